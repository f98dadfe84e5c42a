public import SwitchyardHTTP
public import SwitchyardServices

/// The reason why a client cannot be created, or cannot perform a change at run time.
///
/// Nothing has changed in that case.
public enum ClientError: Error, Sendable, Hashable {
    /// The service has no server in this environment.
    ///
    /// `known` contains the environments of the service, sorted by name.
    case missingEnvironment(ServiceEnvironment, service: String, known: [ServiceEnvironment])
    /// A server's base URL cannot be used.
    case unusableURL(server: Server.ID, RequestError)
    /// No server of the service is in this zone; `known` contains the zones of the servers, sorted by name.
    case unknownZone(String, known: [String])
    /// The change of servers was refused, because a server is unknown, the list is empty, or the command is outdated.
    case switching(SwitchError)
    /// The list of servers is invalid.
    case catalog(CatalogError)
    /// The transport could not be created.
    case transport(TransportError)
    /// A server with pinned keys has a base URL that is not https.
    case pins(PinRule.Problem)
    /// A value of the retry policy is invalid.
    case retry(RetryPolicy.Problem)
}

extension ClientError: CustomStringConvertible {
    /// A description of the mistake, which names the part of the service or options that contains it.
    public var description: String {
        switch self {
        case .missingEnvironment(let environment, let service, let known):
            "the service \(service) has no server in the environment \(environment), only in "
                + known.map(\.rawValue).joined(separator: ", ")
        case .unusableURL(let server, let error): "the base URL of the server \(server) cannot be used: \(error)"
        case .unknownZone(let zone, let known):
            "no server is in the zone \(zone)" + (known.isEmpty ? "" : ", only in " + known.joined(separator: ", "))
        case .switching(let error): error.description
        case .catalog(let error): error.description
        case .transport(let error): error.description
        case .pins(let error): "the pins cannot be used: \(error)"
        case .retry(let error): "the retry policy cannot be used: \(error)"
        }
    }
}
