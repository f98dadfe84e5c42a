/// How a limit tells requests apart: those of one key count together.
///
///     .everything                                     one count for the whole client
///     .endpoint                                       method and path
///     .parameters("q")                                method, path and the value of q
///     .custom { $0.tags.contains("search") ? "search" : nil }
public struct LimitKey: Sendable {
    private let name: @Sendable (APIConfiguration) -> String?

    /// A key of your own; requests for which it is `nil` are not limited.
    public static func custom(_ name: @escaping @Sendable (APIConfiguration) -> String?) -> LimitKey {
        LimitKey(name: name)
    }

    /// All requests count together.
    public static let everything = LimitKey { _ in "" }

    /// Requests of one method and path count together, whatever their parameters.
    public static let endpoint = LimitKey { "\($0.method.name) \($0.path)" }

    /// Requests of one method and path with the same query and parameters count together.
    public static let call = LimitKey { configuration in
        "\(configuration.method.name) \(configuration.path) \(configuration.query.items) \(configuration.parameters.items)"
    }

    /// Requests of one method and path with the same values of some parameters count together.
    public static func parameters(_ names: String...) -> LimitKey {
        LimitKey { configuration in
            let values = names.map { name in
                (configuration.query[name] ?? configuration.parameters[name]).map { "\($0)" } ?? "-"
            }
            return "\(configuration.method.name) \(configuration.path) \(values)"
        }
    }

    /// Requests with the tag count together; others are not limited.
    public static func tag(_ tag: String) -> LimitKey {
        LimitKey { $0.tags.contains(tag) ? tag : nil }
    }

    /// The key of a request; `nil` when it is not limited.
    public func callAsFunction(_ configuration: APIConfiguration) -> String? { name(configuration) }
}
