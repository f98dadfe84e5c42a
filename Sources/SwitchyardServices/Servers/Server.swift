/// One of the servers that can respond to a service's requests.
///
/// Two servers may have the same address, for example if developers have only one machine. The health of each server is
/// tracked separately.
public struct Server: Sendable, Hashable, Identifiable {
    /// The name, unique within the service.
    ///
    /// Keep the name across releases of the app, because stored health, events and pushed commands refer to it.
    public let name: String
    /// The base URL in each environment that the server is part of.
    ///
    /// In the other environments of the service, the server does not exist.
    public var baseURLs: [ServiceEnvironment: ServerURL]
    /// The base URL for requests that use the CDN, by environment; an environment without a CDN has no entry.
    public var cdnURLs: [ServiceEnvironment: ServerURL]
    /// The share of traffic relative to the other servers, if the selection strategy, a group of equal ``priority`` or
    /// the fallback order uses weights.
    ///
    /// It has no unit. The default is 1. With 0, the server is used only if no other server is left.
    public var weight: Double
    /// The requests that the server responds to, by default all.
    ///
    /// Other requests are never sent to the server.
    public var serves: ServedRequests
    /// The paths that are different on this server.
    ///
    /// Each key is a path of the service, and its value is the path on the server. Both paths are relative to the base
    /// URL. If they end with `/**`, everything below the folder is mapped, and the rest of the path stays:
    /// `["/topics/**": "/static/**"]` maps `/topics/a/b` to `/static/a/b`. An exact path takes precedence, then the
    /// longest folder. The query is kept. URLs that the app passes as a whole are not changed. The default is none.
    public var rewrites: [String: String]
    /// The rank of the server, with 1 as the most preferred, or `nil` if the order of the list is the order of
    /// preference.
    ///
    /// Servers of equal priority form a group that shares its traffic by ``weight``. Either all servers of a service
    /// have a priority or no server has one, and the priorities leave no gap. The default is `nil`.
    public var priority: Int?
    /// The zone of the server, such as a region, for `NetworkClient.preferredZone`.
    ///
    /// The default is `nil`.
    public var zone: String?

    /// The identity of the server, which is its name.
    public var id: String { name }

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - name: The name, unique within the service.
    ///   - baseURLs: The base URL in each environment that the server is part of, at least one.
    ///   - cdnURLs: The base URL of the CDN in each environment that has one. The default is none.
    ///   - weight: The share of traffic relative to the other servers. The default is 1.
    ///   - serves: The requests that the server responds to. The default is all.
    ///   - rewrites: The paths of the server that differ from those of the service. The default is none.
    ///   - priority: The rank of the server, or `nil`, the default, for the order of the list.
    ///   - zone: The zone of the server. The default is `nil`.
    public init(
        name: String,
        baseURLs: [ServiceEnvironment: ServerURL],
        cdnURLs: [ServiceEnvironment: ServerURL] = [:],
        weight: Double = 1,
        serves: ServedRequests = .everything,
        rewrites: [String: String] = [:],
        priority: Int? = nil,
        zone: String? = nil
    ) {
        self.name = name
        self.baseURLs = baseURLs
        self.cdnURLs = cdnURLs
        self.weight = weight
        self.serves = serves
        self.rewrites = rewrites
        self.priority = priority
        self.zone = zone
    }
}

/// A named set of base URLs that belong together, such as the test servers or the production servers.
///
/// ``test``, ``develop`` and ``release`` are predefined. Any other non-empty name is also an environment.
public struct ServiceEnvironment: RawRepresentable, Hashable, Sendable {
    /// The name as written in service files.
    public let rawValue: String

    /// The environment for testers.
    public static let test = ServiceEnvironment(rawValue: "test")
    /// The environment for developers.
    public static let develop = ServiceEnvironment(rawValue: "develop")
    /// The production environment.
    public static let release = ServiceEnvironment(rawValue: "release")

    /// Creates the environment with the given name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

extension ServiceEnvironment: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates the environment with the given name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// The name of the environment.
    public var description: String { rawValue }
}
