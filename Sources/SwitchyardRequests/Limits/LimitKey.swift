public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The key by which a limit groups requests.
///
/// Requests with the same key are limited together.
///
///     .everything                                     one key for all requests
///     .endpoint                                       method and path
///     .parameters("q")                                method, path and the value of q
///     .custom { $0.tags.contains("search") ? "search" : nil }
///
/// For an ``/SwitchyardClient/APIConfiguration/prebuiltRequest``, the key is made from the method and URL of that
/// request. The origin and path of its URL serve as the path, and the query serves as the parameters.
public struct LimitKey: Sendable {
    private let name: @Sendable (APIConfiguration) -> String?

    /// Returns a key computed by a closure.
    ///
    /// A request is not limited if the closure returns `nil` for it.
    public static func custom(_ name: @escaping @Sendable (APIConfiguration) -> String?) -> LimitKey {
        LimitKey(name: name)
    }

    /// A key that is the same for all requests.
    public static let everything = LimitKey { _ in "" }

    /// A key that is the same for requests with the same method and path, whatever their parameters.
    public static let endpoint = LimitKey { $0.endpoint }

    /// A key that is the same for requests with the same method, path, path values, query and parameters.
    public static let call = LimitKey { configuration in
        let asked = configuration.requestedParameters + [configuration.pathValues]
        return ([configuration.endpoint] + asked.map(\.canonicalText)).map(\.framed).joined()
    }

    /// Returns a key that is the same for requests with the same method, path and values of the named parameters.
    public static func parameters(_ names: String...) -> LimitKey {
        LimitKey { configuration in
            let asked = configuration.requestedParameters
            let values = names.map { name in asked.lazy.compactMap { $0[name] }.first?.canonicalText ?? "-" }
            return ([configuration.endpoint] + values).map(\.framed).joined()
        }
    }

    /// Returns a key that is the same for all requests with the tag.
    ///
    /// Other requests are not limited.
    public static func tag(_ tag: String) -> LimitKey {
        LimitKey { $0.tags.contains(tag) ? tag : nil }
    }

    /// Returns the key of a request, or `nil` if the request is not limited.
    public func callAsFunction(_ configuration: APIConfiguration) -> String? { name(configuration) }
}

extension APIConfiguration {
    /// The method and path of the call, or, if the app set `prebuiltRequest`, the method, origin and path of that
    /// request.
    fileprivate var endpoint: String {
        guard let url = prebuiltRequest?.url else { return "\(method.name) \(path)" }
        return "\(sentMethod.name) \(url.origin)\(url.path)"
    }

    /// The values that the call sends: its `query` and its `parameters`, or, if the app set `prebuiltRequest`, the
    /// query of that request's URL.
    fileprivate var requestedParameters: [Parameters] {
        guard let url = prebuiltRequest?.url else { return [query, parameters] }
        return [url.query.map { Parameters(parsing: $0) } ?? Parameters()]
    }
}
