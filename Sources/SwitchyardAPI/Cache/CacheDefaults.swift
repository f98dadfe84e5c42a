public import SwitchyardClient
import SwitchyardHTTP

/// What holds for calls that say nothing of caching themselves.
///
///     client.responseCache = ResponseCache(defaults: CacheDefaults(lifetime: .seconds(300)))
///
/// A call goes its own way with ``/SwitchyardClient/APIConfiguration/cacheLifetime`` (zero is no caching) and with
/// ``CachePolicy/isEnabled``.
public struct CacheDefaults: Sendable {
    /// Whether answers are cached at all; default is `true`.
    ///
    /// Calls that say ``CachePolicy/isEnabled`` are not concerned.
    public var isEnabled: Bool
    /// How long the answers of calls are fresh that name no lifetime, and how old what such calls take may be at most;
    /// `nil`, the default, does not cache them.
    public var lifetime: Duration?

    /// How long an answer is fresh when its call asks for caching and nobody names a lifetime: a minute.
    public static let unnamedLifetime = Duration.seconds(60)

    /// Asked before an answer is stored: returns it as it is to be stored, or `nil` for not at all; nobody is asked unless
    /// set.
    public var willStore: (@Sendable (StoredAnswer) -> StoredAnswer?)?

    /// Changes a path before an answer is stored or looked for under it; the requests' own paths stay as they are.
    public typealias PathFilter = @Sendable (_ path: String, APIConfiguration) -> String
    /// Change the paths under which answers are stored, one after the other; none unless set.
    public var pathFilters: [PathFilter] = []

    /// Creates defaults.
    public init(
        isEnabled: Bool = true,
        lifetime: Duration? = nil,
        willStore: (@Sendable (StoredAnswer) -> StoredAnswer?)? = nil
    ) {
        self.isEnabled = isEnabled
        self.lifetime = lifetime
        self.willStore = willStore
    }

    /// The path under which a call's answer is stored, with its placeholders filled: a change names it otherwise.
    func path(of configuration: APIConfiguration) -> String {
        let path = pathFilters.reduce(configuration.path) { path, filter in filter(path, configuration) }
        guard path.hasByte(UInt8(ascii: "{")) else { return path }
        return (try? URLTemplate(path).expanded(with: configuration.pathValues)) ?? path
    }
}
