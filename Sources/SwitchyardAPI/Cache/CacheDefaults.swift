public import SwitchyardClient
import SwitchyardHTTP

/// The caching of calls that do not configure caching themselves.
///
///     client.responseCache = ResponseCache(defaults: CacheDefaults(lifetime: .seconds(300)))
///
/// A call overrides these values with ``CachePolicy/lifetime`` (zero disables caching) and ``CachePolicy/isEnabled``.
public struct CacheDefaults: Sendable {
    /// Whether responses are cached, `true` by default.
    ///
    /// A call that sets ``CachePolicy/isEnabled`` overrides this value.
    public var isEnabled: Bool
    /// The lifetime of responses to calls that set no lifetime.
    ///
    /// The value is also the maximum age of a stored response that such a call accepts.
    ///
    /// If `nil` (the default), these responses are not cached.
    public var lifetime: Duration?

    /// The lifetime of a response if its call enables caching and neither the call nor the defaults set a lifetime.
    package static let unnamedLifetime = Duration.seconds(60)

    /// A closure that returns the response to store, or `nil` to store nothing.
    ///
    /// By default, responses are stored unchanged.
    public var willStore: (@Sendable (StoredResponse) -> StoredResponse?)?

    /// A closure that returns the path under which a response is stored and looked up.
    ///
    /// The path of the request stays the same.
    public typealias PathFilter = @Sendable (_ path: String, APIConfiguration) -> String
    /// The filters that change the paths of stored responses, in order.
    ///
    /// There are none by default.
    public var pathFilters: [PathFilter] = []

    /// Creates defaults.
    ///
    /// By default, responses are cached only for calls that set a lifetime.
    public init(
        isEnabled: Bool = true,
        lifetime: Duration? = nil,
        willStore: (@Sendable (StoredResponse) -> StoredResponse?)? = nil
    ) {
        self.isEnabled = isEnabled
        self.lifetime = lifetime
        self.willStore = willStore
    }

    /// Returns the path under which the response of a call is stored, with its placeholders filled and all filters
    /// applied.
    func path(of configuration: APIConfiguration) -> String {
        let path = pathFilters.reduce(configuration.path) { path, filter in filter(path, configuration) }
        guard path.hasByte(UInt8(ascii: "{")) else { return path }
        return (try? URLTemplate(path).expanded(with: configuration.pathValues)) ?? path
    }
}
