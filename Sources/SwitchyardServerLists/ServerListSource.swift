import Foundation
import SwitchyardHTTP
import SwitchyardTransport

/// The URLs of a list, and the exchange with one of them.
///
/// A response is limited in size and time, so a hostile server can use only a bounded amount of memory and time.
struct ServerListSource: Sendable {
    let urls: [RequestURL]
    let transport: any Transport
    let timeout: Duration

    /// The result of an exchange.
    enum Response: Sendable {
        case list(Data, ServerListValidator?, date: Date?)
        /// The list has not changed since the validator was received.
        case notModified(date: Date?)
        case tooLarge
        case failed(String)
        case cancelled
        /// The transport has been shut down.
        case closed
    }

    /// Requests the list of one URL.
    func fetch(_ url: RequestURL, _ validator: ServerListValidator?) async -> Response {
        var request = HTTPRequest(
            url: url,
            headers: ["Accept": "application/json"],
            timeouts: HTTPRequest.Timeouts(connect: timeout, idle: timeout, total: timeout),
            responseBodyLimit: ServerList.maximumSize
        )
        if let tag = validator?.entityTag { request.headers.set("If-None-Match", tag) }
        if let modified = validator?.modified { request.headers.set("If-Modified-Since", modified) }
        do throws(TransportError) {
            return Self.response(try await transport.send(request), to: url, isConditional: validator != nil)
        } catch {
            switch error.kind {
            case .bodyTooLarge: return .tooLarge
            case .cancelled: return .cancelled
            case .closed: return .closed
            default: return .failed(error.description)
            }
        }
    }

    private static func response(_ response: HTTPResponse, to url: RequestURL, isConditional: Bool) -> Response {
        // Only if the response came over TLS does the date certainly come from the server.
        let date = url.isSecure ? response.headers["Date"].flatMap { HTTPDate.date(from: $0) } : nil
        switch response.status {
        case 200:
            return .list(response.data ?? Data(), ServerListValidator(response.headers), date: date)
        case 304 where isConditional: return .notModified(date: date)
        default: return .failed("status \(response.status)")
        }
    }
}
