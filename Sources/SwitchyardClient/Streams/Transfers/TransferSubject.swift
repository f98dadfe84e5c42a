import Foundation
import SwitchyardHTTP

/// The identity of a transfer's content, whichever server sends it; names the state that is kept for a later call.
package struct TransferSubject: Sendable, Hashable {
    /// The path, without the query.
    package var path: String
    /// The digest of service, environment, method, path and query.
    package var digest: String

    /// - Parameters:
    ///   - request: The call.
    ///   - name: The name that replaces method, path and query.
    ///   - service: The service.
    ///   - environment: Its environment.
    package init(
        _ request: APIConfiguration,
        named name: String? = nil,
        service: String,
        environment: String
    ) {
        let url = request.prebuiltRequest?.url.normalForm ?? Self.url(of: request) ?? Self.text(of: request)
        path = Redaction.place(url).replacingOccurrences(of: "http://server.invalid", with: "")
        let name = name ?? "\(request.sentMethod) \(url)"
        digest = MessageDigest.sha256("\(service)\n\(environment)\n\(name)".utf8).hexText
    }

    /// Returns the URL without a server and without the client's additions; `nil` if the path alone does not define it.
    private static func url(of request: APIConfiguration) -> String? {
        var plain = APIConfiguration(path: request.path, method: request.method, query: request.query)
        plain.pathValues = request.pathValues
        plain.parameters = request.parameters
        plain.parameterDestination = .query
        plain.parameterOptions = request.parameterOptions
        guard var base = try? BaseURL("http://server.invalid") else { return nil }
        if case .baseURL(let other) = request.server { base = BaseURL(other) }
        return try? RequestGenerator(headers: [:]).request(for: plain, on: base).url.normalForm
    }

    /// Returns the values that make the URL, if only the client's generator can make it.
    private static func text(of request: APIConfiguration) -> String {
        let parts = [request.pathValues, request.query, request.parameters].map(\.canonicalText)
        return request.path + "?" + parts.map(\.framed).joined()
    }
}
