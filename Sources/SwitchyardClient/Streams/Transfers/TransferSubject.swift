import Foundation
import SwitchyardHTTP

/// The identity of a transfer's content, which is the same at every server.
///
/// The identity is the name under which the state of an interrupted transfer is stored for a later call.
package struct TransferSubject: Sendable, Hashable {
    /// The path, without the query.
    package var path: String
    /// The digest of service, environment, method, path and query.
    package var digest: String

    /// - Parameters:
    ///   - request: The call.
    ///   - name: A name that is used in place of method, path and query, if not `nil`.
    ///   - service: The name of the service.
    ///   - environment: The name of the environment.
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

    /// Returns the URL of a call without server and without the client's common values.
    ///
    /// The result is `nil` if the URL cannot be built without the client's generator.
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

    /// Returns a text with the values that determine the URL, for a URL that only the client's generator can build.
    private static func text(of request: APIConfiguration) -> String {
        let parts = [request.pathValues, request.query, request.parameters].map(\.canonicalText)
        return request.path + "?" + parts.map(\.framed).joined()
    }
}
