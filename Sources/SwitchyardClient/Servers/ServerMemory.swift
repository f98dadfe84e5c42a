package import SwitchyardServices

/// A client's knowledge about its servers that is useful in the next run: the preferred server and the ejected ones.
///
/// The app stores it.
public struct ServerMemory: Codable, Sendable, Hashable {
    /// The name of the service.
    public var service: String
    /// The name of the environment.
    public var environment: String
    /// The health of the servers, by name.
    package var servers: SwitchMemory

    /// Creates a memory.
    package init(service: String, environment: String, servers: SwitchMemory) {
        self.service = service
        self.environment = environment
        self.servers = servers
    }
}
