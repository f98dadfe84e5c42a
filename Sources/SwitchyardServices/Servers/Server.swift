/// One of the servers that can answer a service's requests.
///
/// Two servers may have the same address, say where only one machine exists for developers; each is judged by itself.
public struct Server: Sendable, Hashable, Identifiable {
    /// The name, unique within the service and stable over releases: health, events and pushes refer to it.
    public let name: String
    /// The base URL in each environment.
    public var baseURLs: [ServiceEnvironment: ServerURL]
    /// The base URL for requests that ask for the CDN, in the environments that have one.
    public var cdnURLs: [ServiceEnvironment: ServerURL]
    /// The share of traffic relative to the other servers, where the selection strategy or the order of fallbacks
    /// weighs; 0 means: only when no other server is left.
    ///
    /// No unit; default 1.
    public var weight: Double

    /// The name.
    public var id: String { name }

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - name: The name, unique within the service.
    ///   - baseURLs: The base URL in each environment.
    ///   - cdnURLs: The base URLs of the CDN, where there is one; none unless given.
    ///   - weight: The share of traffic relative to the other servers; 1 unless given.
    public init(
        name: String,
        baseURLs: [ServiceEnvironment: ServerURL],
        cdnURLs: [ServiceEnvironment: ServerURL] = [:],
        weight: Double = 1
    ) {
        self.name = name
        self.baseURLs = baseURLs
        self.cdnURLs = cdnURLs
        self.weight = weight
    }
}

/// A set of base URLs that belong together, such as the test machines or the live ones.
///
/// The set is open: ``test``, ``develop`` and ``release`` are named, and any other non-empty name is as good.
public struct ServiceEnvironment: RawRepresentable, Hashable, Sendable {
    /// The name as it stands in service files.
    public let rawValue: String

    /// The environment of testers.
    public static let test = ServiceEnvironment(rawValue: "test")
    /// The environment of developers.
    public static let develop = ServiceEnvironment(rawValue: "develop")
    /// The live environment.
    public static let release = ServiceEnvironment(rawValue: "release")

    /// Creates the environment of this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

extension ServiceEnvironment: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates the environment of this name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// The name.
    public var description: String { rawValue }
}
