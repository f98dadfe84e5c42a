public import SwitchyardClient
import SwitchyardHTTP

/// The caching of calls that do not configure caching themselves.
///
///     client.responseCache = ResponseCache(defaults: CacheDefaults(lifetime: .seconds(300)))
///
/// A call overrides these values by ``/SwitchyardClient/APIConfiguration/cacheLifetime`` (zero disables caching) and
/// ``CachePolicy/isEnabled``.
public struct CacheDefaults: Sendable {
    /// Whether responses are cached; default is `true`.
    ///
    /// A call that sets ``CachePolicy/isEnabled`` overrides this value.
    public var isEnabled: Bool
    /// The lifetime of responses whose call sets no lifetime, and the greatest age of responses that such a call
    /// accepts.
    ///
    /// If `nil`, the default, these responses are not cached.
    public var lifetime: Duration?

    /// The lifetime of a response whose call enables caching if neither the call nor the defaults set a lifetime: one
    /// minute.
    package static let unnamedLifetime = Duration.seconds(60)

    /// A closure that returns the response to store, or `nil` to store nothing; default is none.
    public var willStore: (@Sendable (StoredResponse) -> StoredResponse?)?

    /// Changes the path under which a response is stored and looked up; the path of the request stays the same.
    public typealias PathFilter = @Sendable (_ path: String, APIConfiguration) -> String
    /// The filters that change the paths of stored responses, applied in order; default is none.
    public var pathFilters: [PathFilter] = []

    /// Creates defaults.
    public init(
        isEnabled: Bool = true,
        lifetime: Duration? = nil,
        willStore: (@Sendable (StoredResponse) -> StoredResponse?)? = nil
    ) {
        self.isEnabled = isEnabled
        self.lifetime = lifetime
        self.willStore = willStore
    }

    /// Returns the path under which a call's response is stored, with filled placeholders and all filters applied.
    func path(of configuration: APIConfiguration) -> String {
        let path = pathFilters.reduce(configuration.path) { path, filter in filter(path, configuration) }
        guard path.hasByte(UInt8(ascii: "{")) else { return path }
        return (try? URLTemplate(path).expanded(with: configuration.pathValues)) ?? path
    }
}
