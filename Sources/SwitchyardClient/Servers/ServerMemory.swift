package import SwitchyardServices

/// The health of a client's servers for the next launch: which server is preferred, and which servers are ejected (out
/// of use for a time).
///
/// The app stores this value and passes it to ``NetworkClient/restoreHealth(_:at:)``.
public struct ServerMemory: Codable, Sendable, Hashable {
    /// The name of the service.
    package var service: String
    /// The name of the environment.
    package var environment: String
    /// The health of the servers, by name.
    package var servers: SwitchMemory
    /// The scheme, host and port of each server, by the server's name; `nil` if an earlier version stored the health.
    package var origins: [Server.ID: String]?

    package init(service: String, environment: String, servers: SwitchMemory, origins: [Server.ID: String]) {
        self.service = service
        self.environment = environment
        self.servers = servers
        self.origins = origins
    }
}
