public import SwitchyardHTTP
public import SwitchyardServices

/// A request that no available server serves: a mistake in the configuration of the service or of the call.
///
/// Nothing was sent. The call fails immediately.
public struct UnservedRequest: Error, Sendable, Hashable {
    /// The method of the request.
    public var method: HTTPMethod
    /// The path of the request relative to the base URL, without its query.
    public var path: String
    /// The servers that were considered: the servers of the environment, or the single server that the call or a
    /// redirect names.
    public var servers: [Server.ID]

    /// Creates the description of a request.
    package init(method: HTTPMethod, path: String, servers: [Server.ID]) {
        self.method = method
        self.path = path
        self.servers = servers
    }
}

extension UnservedRequest: CustomStringConvertible {
    /// The method and path, and the servers that do not serve them.
    public var description: String {
        let names = servers.joined(separator: ", ")
        return servers.count == 1
            ? "the server \(names) does not serve \(method) \(path)"
            : "none of the servers \(names) serves \(method) \(path)"
    }
}
