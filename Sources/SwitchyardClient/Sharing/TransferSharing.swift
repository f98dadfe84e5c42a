/// Whether a call shares one transfer with others that ask the same at the same time.
public enum TransferSharing: Sendable, Hashable {
    /// It has a transfer of its own.
    case off
    /// Reads of the same URL with the same header fields share one.
    ///
    /// Only what is safe by its method, has no body and takes its answer in one piece is shared (RFC 9110 section
    /// 9.2.1); anything else has a transfer of its own.
    case identical
    /// Calls of the same name share one, whatever they are: it is the caller's word that they ask the same.
    case named(String)

    /// The name under which calls find each other; `nil` when the call has a transfer of its own.
    func name(of configuration: APIConfiguration) -> String? {
        guard configuration.delivery == .whole else { return nil }
        switch self {
        case .off: return nil
        case .named(let name): return "named \(name)"
        case .identical:
            guard configuration.method.isSafe, configuration.body.isNone else { return nil }
            return """
                \(configuration.method.name) \(configuration.path) \(configuration.query.items) \
                \(configuration.parameters.items) \(configuration.pathValues.items) \(configuration.server) \
                \(configuration.usesCDN) \(configuration.headers.fields.map { "\($0.name): \($0.value)" })
                """
        }
    }
}
