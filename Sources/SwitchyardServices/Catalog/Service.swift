/// A named service: its servers in order of preference, its environments, and how to switch between the servers.
///
/// ### Read a service from a file
/// See ``ServiceCatalog`` for the folder.
///
/// ### Write a service in Swift
///
///     let simple = try Service(name: "topics", baseURL: "https://api.example.com/v1")
///     let service = try Service(
///         name: "topics",
///         servers: [
///             Server(
///                 name: "primary",
///                 baseURLs: [
///                     .release: ServerURL("https://api.example.com/v1"),
///                     .develop: ServerURL("https://dev.example.com/v1"),
///                 ]
///             ),
///             Server(name: "secondary", baseURLs: [.release: ServerURL("https://api2.example.com/v1")]),
///         ],
///         defaultEnvironment: .release
///     )
///
/// Environments may have different servers: the service above has two servers in `release` and one in `develop`.
public struct Service: Sendable, Hashable {
    /// The maximum number of servers of a service.
    package static let maximumServers = ServerSet.capacity

    /// The name of the service, which is also the name of its file.
    public let name: String
    /// The servers of all environments in order of preference; never empty, with unique names.
    public let servers: [Server]
    /// The environment that a client starts in.
    public let defaultEnvironment: ServiceEnvironment
    /// The policy that decides when to switch from one server to another.
    public let switching: SwitchPolicy

    /// Creates a service and validates it as strictly as a service file.
    ///
    /// - Parameters:
    ///   - name: The name of the service.
    ///   - servers: The servers in order of preference, at least one and at most 64.
    ///   - defaultEnvironment: The environment that a client starts in. At least one server must be part of it.
    ///   - switching: The switching policy. The default is ``SwitchPolicy/recommended``.
    /// - Throws: A ``CatalogError`` that names the key and the expected value.
    public init(
        name: String,
        servers: [Server],
        defaultEnvironment: ServiceEnvironment,
        switching: SwitchPolicy = .recommended
    ) throws(CatalogError) {
        self.name = name
        self.servers = servers
        self.defaultEnvironment = defaultEnvironment
        self.switching = switching
        try check()
    }

    /// Creates a service with one server, named `primary`, in one environment.
    ///
    /// - Parameters:
    ///   - name: The name of the service.
    ///   - baseURL: The base URL of the server.
    ///   - environment: The environment. The default is ``ServiceEnvironment/release``.
    ///   - switching: The switching policy, used if servers are added. The default is ``SwitchPolicy/recommended``.
    /// - Throws: A ``CatalogError`` that names the key and the expected value.
    public init(
        name: String,
        baseURL: String,
        environment: ServiceEnvironment = .release,
        switching: SwitchPolicy = .recommended
    ) throws(CatalogError) {
        let url: ServerURL
        do throws(ServerURL.Problem) {
            url = try ServerURL(baseURL)
        } catch {
            let place = "servers[0].baseURLs.\(environment)"
            throw CatalogError(.invalidURL, at: place, expected: error.rawValue, found: error.found)
        }
        let server = Server(name: "primary", baseURLs: [environment: url])
        try self.init(name: name, servers: [server], defaultEnvironment: environment, switching: switching)
    }

    /// The environments of the service, sorted by name; each has at least one server.
    public var environments: [ServiceEnvironment] {
        Set(servers.flatMap(\.baseURLs.keys)).sorted { $0.rawValue < $1.rawValue }
    }

    /// Returns the servers of an environment in order of preference.
    ///
    /// - Parameter environment: The environment.
    /// - Returns: The servers that have a base URL in the environment; empty if the service does not have the
    ///   environment.
    public func servers(in environment: ServiceEnvironment) -> [Server] {
        servers.filter { $0.baseURLs[environment] != nil }
    }

    /// Returns the server with the given name, or `nil` if there is none.
    public func server(named name: String) -> Server? {
        servers.first { $0.name == name }
    }

    private func check() throws(CatalogError) {
        guard !name.isEmpty else {
            throw CatalogError(.invalidValue, at: "service", expected: "a name that is not empty")
        }
        guard !servers.isEmpty else { throw CatalogError(.noServers, at: "servers", expected: "at least one server") }
        guard servers.count <= Service.maximumServers else {
            let limit = "at most \(Service.maximumServers) servers"
            throw CatalogError(.invalidValue, at: "servers", expected: limit, found: "\(servers.count)")
        }
        var names: Set<String> = []
        for (index, server) in servers.enumerated() {
            try check(server, at: "servers[\(index)]")
            guard names.insert(server.name).inserted else {
                let expected = "a name that no other server has"
                throw CatalogError(
                    .duplicateServer,
                    at: "servers[\(index)].name",
                    expected: expected,
                    found: server.name
                )
            }
        }
        try checkDefault()
        try checkPriorities()
        do throws(SwitchPolicy.Problem) {
            try switching.check()
        } catch {
            throw CatalogError(.invalidValue, at: "switching.\(error.key)", expected: error.expected)
        }
    }

    private func check(_ server: Server, at path: String) throws(CatalogError) {
        guard !server.name.isEmpty else {
            throw CatalogError(.invalidValue, at: "\(path).name", expected: "a name that is not empty")
        }
        guard server.weight.isFinite, server.weight >= 0 else {
            throw CatalogError(
                .invalidValue,
                at: "\(path).weight",
                expected: "a number of at least 0",
                found: "\(server.weight)"
            )
        }
        guard !server.baseURLs.isEmpty else {
            throw CatalogError(.missingEnvironment, at: "\(path).baseURLs", expected: "at least one environment")
        }
        for environment in server.cdnURLs.keys where server.baseURLs[environment] == nil {
            throw CatalogError(
                .missingEnvironment,
                at: "\(path).cdnURLs.\(environment)",
                expected: "an environment that is also in baseURLs"
            )
        }
        try server.checkRole(at: path)
    }

    private func checkDefault() throws(CatalogError) {
        let environments = environments
        guard environments.contains(defaultEnvironment) else {
            throw CatalogError(
                .missingEnvironment,
                at: "defaultEnvironment",
                expected: "one of " + environments.map(\.rawValue).joined(separator: ", "),
                found: defaultEnvironment.rawValue
            )
        }
    }
}
