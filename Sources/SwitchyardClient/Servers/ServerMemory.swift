package import SwitchyardServices

/// What a client knows of its servers that is worth having in the next run: which one was preferred, and which were out of
/// service.
///
/// The app stores it wherever it keeps such things.
public struct ServerMemory: Codable, Sendable, Hashable {
    /// The name of the service.
    public var service: String
    /// The name of the environment.
    public var environment: String
    /// The servers, by their names.
    package var servers: SwitchMemory

    /// Creates a memory.
    package init(service: String, environment: String, servers: SwitchMemory) {
        self.service = service
        self.environment = environment
        self.servers = servers
    }
}
