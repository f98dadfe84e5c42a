import SwitchyardHTTP
import SwitchyardServices

/// How a limit tells requests apart: those of one key count together.
///
///     .everything                                     one count for the whole client
///     .endpoint                                       method and path
///     .parameters("q")                                method, path and the value of q
///     .custom { $0.tags.contains("search") ? "search" : nil }
///
/// Of a ``APIConfiguration/prebuiltRequest`` its own method and its URL count: origin and path as the path, the query as
/// the parameters.
public struct LimitKey: Sendable {
    private let name: @Sendable (APIConfiguration) -> String?

    /// A key of your own; requests for which it is `nil` are not limited.
    public static func custom(_ name: @escaping @Sendable (APIConfiguration) -> String?) -> LimitKey {
        LimitKey(name: name)
    }

    /// All requests count together.
    public static let everything = LimitKey { _ in "" }

    /// Requests of one method and path count together, whatever their parameters.
    public static let endpoint = LimitKey { $0.endpoint }

    /// Requests of one method and path with the same query, parameters and values in the path count together.
    public static let call = LimitKey { configuration in
        let asked = configuration.askedParameters + [configuration.pathValues]
        return ([configuration.endpoint] + asked.map(\.canonicalText)).map(\.framed).joined()
    }

    /// Requests of one method and path with the same values of some parameters count together.
    public static func parameters(_ names: String...) -> LimitKey {
        LimitKey { configuration in
            let asked = configuration.askedParameters
            let values = names.map { name in asked.lazy.compactMap { $0[name] }.first?.canonicalText ?? "-" }
            return ([configuration.endpoint] + values).map(\.framed).joined()
        }
    }

    /// Requests with the tag count together; others are not limited.
    public static func tag(_ tag: String) -> LimitKey {
        LimitKey { $0.tags.contains(tag) ? tag : nil }
    }

    /// The key of a request; `nil` when it is not limited.
    public func callAsFunction(_ configuration: APIConfiguration) -> String? { name(configuration) }
}

extension APIConfiguration {
    /// Method and path; of a request made by hand its method, origin and path.
    fileprivate var endpoint: String {
        guard let url = rare?.value.prebuiltRequest?.url else { return "\(method.name) \(path)" }
        return "\(sentMethod.name) \(url.origin)\(url.path)"
    }

    /// Query and parameters; of a request made by hand the query of its URL.
    fileprivate var askedParameters: [Parameters] {
        guard let url = rare?.value.prebuiltRequest?.url else { return [query, parameters] }
        return [url.query.map { Parameters(parsing: $0) } ?? Parameters()]
    }
}
