public import SwitchyardClient

/// How one call uses stored answers, beside its lifetime (``SwitchyardClient/APIConfiguration/cacheLifetime``).
///
///     var configuration = APIConfiguration(path: "topics")
///     configuration.cacheLifetime = .seconds(60)
///     configuration.cache.staleIfError = .seconds(3_600)
public struct CachePolicy: Sendable, Hashable {
    /// What is done with a stored answer.
    public enum Reading: Sendable, Hashable {
        /// A fresh one is the answer, else the server is asked; the default.
        case whenFresh
        /// The server is asked, as when the user pulls to refresh; its answer is stored.
        case never
        /// A stored one is the answer, and the server is never asked; without one the call fails with
        /// ``APIError/Reason/cache(_:)``.
        case only
    }

    /// What is done with a stored answer.
    public var reading = Reading.whenFresh
    /// Whether the answer is stored; default is `true`.
    public var stores = true
    /// How long beyond its lifetime a stored answer is given at once, while a new one is fetched for the next call
    /// (RFC 5861); default is not at all.
    public var staleWhileRevalidate = Duration.zero
    /// How long beyond its lifetime a stored answer stands in when the network or the server fails (RFC 5861); default
    /// is not at all.
    public var staleIfError = Duration.zero
    /// Names by which the stored answer can be removed.
    public var tags: Set<String> = []
    /// Names of parameters on which the answer does not depend, as a time stamp.
    public var ignoredParameters: Set<String> = []
    /// Names of header fields of the request on which the answer does not depend, in lower case.
    public var ignoredHeaders = CachePolicy.neverInKeys
    /// The version of the answer's format; a new one does not find the old one's answers.
    public var version = 0
    /// Whether answers to methods that may change something (POST) are stored too; default is `false`.
    public var allowsUnsafeMethods = false

    /// Creates the default policy.
    public init() {}

    /// Header fields that differ in every request and say nothing about the answer.
    public static let neverInKeys: Set<String> = [
        "x-request-id", "x-correlation-id", "traceparent", "tracestate", "idempotency-key", "if-none-match",
        "if-modified-since", "cache-control", "pragma", "date", "user-agent",
    ]

    /// How long a stored answer is kept beyond its lifetime.
    var keepsStaleFor: Duration { max(staleWhileRevalidate, staleIfError, .zero) }
}

extension APIConfiguration {
    private enum CachePolicyKey: ConfigurationKey {
        static let defaultValue = CachePolicy()
    }

    /// How the call uses stored answers.
    public var cache: CachePolicy {
        get { self[CachePolicyKey.self] }
        set { self[CachePolicyKey.self] = newValue }
    }
}
