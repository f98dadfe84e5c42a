public import SwitchyardHTTP
public import SwitchyardServices

/// The reason why a client cannot be created, or cannot perform a change at run time.
///
/// Nothing has changed in that case.
public enum ClientError: Error, Sendable, Hashable {
    /// A server of the service has no base URL in this environment.
    ///
    /// `known` contains the environments for which it has one.
    case missingEnvironment(ServiceEnvironment, server: Server.ID, known: KnownEnvironments = [])
    /// A server's base URL cannot be used.
    case unusableURL(server: Server.ID, RequestError)
    /// The switching core refused the change, because a server is unknown, the list is empty, or the command is
    /// outdated.
    case switching(SwitchError)
    /// The list of servers is invalid.
    case catalog(CatalogError)
    /// The transport could not be created.
    case transport(TransportError)
    /// A server with pinned keys has a base URL that is not https.
    case pins(PinRuleError)
    /// A value of the retry policy is invalid.
    case retry(RetryPolicyError)
}

/// The environments of a server, for the message of an error.
///
/// All lists are equal, so that errors are compared by the mistake and not by the alternatives.
public struct KnownEnvironments: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The environments, in the order of their names.
    public let environments: [ServiceEnvironment]

    /// Creates a list.
    public init(_ environments: some Sequence<ServiceEnvironment>) {
        self.environments = environments.sorted { $0.rawValue < $1.rawValue }
    }

    /// Creates a list.
    public init(arrayLiteral elements: ServiceEnvironment...) {
        self.init(elements)
    }

    /// The names as the end of a sentence, or an empty text without environments.
    public var description: String {
        environments.isEmpty ? "" : ", only for \(environments.map(\.rawValue).joined(separator: ", "))"
    }

    /// Returns `true`, because the lists are ignored when errors are compared.
    public static func == (left: KnownEnvironments, right: KnownEnvironments) -> Bool { true }

    /// Does nothing, because all lists are equal.
    public func hash(into hasher: inout Hasher) {}
}

extension ClientError: CustomStringConvertible {
    /// The mistake and its location.
    public var description: String {
        switch self {
        case .missingEnvironment(let environment, let server, let known):
            "the server \(server) has no base URL for the environment \(environment)\(known)"
        case .unusableURL(let server, let error): "the base URL of the server \(server) cannot be used: \(error)"
        case .switching(let error): error.description
        case .catalog(let error): error.description
        case .transport(let error): error.description
        case .pins(let error): "the pins cannot hold: \(error)"
        case .retry(let error): "the retry policy cannot be used: \(error)"
        }
    }
}
