import Foundation
import SwitchyardHTTP

/// What a transfer is about, whichever server is asked: names what is kept of it for a later call.
package struct TransferSubject: Sendable, Hashable {
    /// The path, without the query.
    package var path: String
    /// The digest of service, environment, method, path and query.
    package var digest: String

    /// - Parameters:
    ///   - request: What is asked.
    ///   - name: What names the subject in place of method, path and query.
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

    /// The URL at no server in particular, without what the client adds to it; `nil` where the path is none by itself.
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

    /// What makes the URL, where only the client's generator can make it.
    private static func text(of request: APIConfiguration) -> String {
        let parts = [request.pathValues, request.query, request.parameters].map(\.canonicalText)
        return request.path + "?" + parts.map(\.framed).joined()
    }
}
