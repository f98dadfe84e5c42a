public import SwitchyardClient
import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// How one call uses stored answers, beside its lifetime (``/SwitchyardClient/APIConfiguration/cacheLifetime``).
///
///     var configuration = APIConfiguration(path: "topics")
///     configuration.cacheLifetime = .seconds(60)
///     configuration.cache.staleIfError = .seconds(3_600)
public struct CachePolicy: Sendable {
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

    /// What decides how long an answer is fresh.
    public enum Freshness: Sendable, Hashable {
        /// The lifetime of the call; the default.
        case lifetime
        /// The answer's own header fields (RFC 9111): the lifetime of the call says only that it may be stored.
        ///
        /// The cache is a private one. The request's own header fields are part of the key, so that `Vary` is obeyed as
        /// far as they go; those that are common to all requests are taken for the same. An answer that varies by `Cookie`
        /// is none any more once the cookies of the client's jar have changed, and is not kept on disk. A call that
        /// changes something, as PUT and DELETE do, and succeeds removes what is kept of its path, be it named by an
        /// absolute URL or not.
        ///
        /// The policy's own windows for stale answers hold, too, but not against the answer's `must-revalidate`,
        /// `no-cache` or `Vary`, and the first of them not against a request that says how fresh its answer has to be.
        case http
    }

    /// Whether the call takes part in caching; what the cache's ``ResponseCache/defaults`` say when `nil`, the default.
    public var isEnabled: Bool?
    /// What decides how long an answer is fresh.
    public var freshness = Freshness.lifetime
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
    /// How long beyond its lifetime an answer with a validator (`ETag`, `Last-Modified`) is kept, so that the server can
    /// confirm it instead of sending it again; default is a day, zero never asks for confirmation.
    ///
    /// GET and HEAD ask for it; other methods would be refused (RFC 9110 section 13.2.2). An answer that came over
    /// redirects is confirmed where they led to then, and nowhere else. A confirmation that names another entity tag than
    /// the stored one's is of another content, which is then asked for without conditions (RFC 9111 section 4.3.4).
    public var keepsForConfirmation = Duration.seconds(86_400)
    /// Names by which the stored answer can be removed.
    public var tags: Set<String> = []
    /// Names of parameters on which the answer does not depend, as a time stamp.
    public var ignoredParameters: Set<String> = []
    /// Names of header fields of the request on which the answer does not depend, in lower case.
    ///
    /// With `accept` among them an answer is taken whatever the reader had asked for that it came for.
    public var ignoredHeaders = CachePolicy.neverInKeys
    /// Whether the answers of each server are stored apart; default is `false`, since the servers of a service give the
    /// same answers.
    ///
    /// An answer that another server gave than the one that was preferred is then not stored.
    public var separatesServers = false
    /// The version of the answer's format; a new one does not take the old one's answers.
    public var version = 0
    /// What the answer depends on beside the request, such as the user's rights; another one does not take the answers
    /// of this one.
    ///
    /// On disk only a fingerprint of it is kept.
    public var sensitiveData: String?
    /// Whether the answer is kept on disk too, where the cache has one; default is `true`.
    public var usesDisk = true
    /// Asked before an answer is stored: returns it as it is to be stored, or `nil` for not at all; what the cache's
    /// ``ResponseCache/defaults`` say when `nil`, the default.
    ///
    /// When a server has confirmed what is stored, it is asked about the header fields and times alone: the body of such
    /// an answer is empty, and the stored one stays, whatever it returns.
    public var willStore: (@Sendable (StoredAnswer) -> StoredAnswer?)?
    /// Names whose stored answers are removed when this call succeeds, as after a change.
    public var removesTags: Set<String> = []
    /// Whether answers to methods that may change something (POST) are stored too; default is `false`.
    public var allowsUnsafeMethods = false

    /// Creates the default policy.
    public init() {}

    /// Header fields that differ in every request and say nothing about the answer.
    public static let neverInKeys: Set<String> = [
        "x-request-id", "x-correlation-id", "traceparent", "tracestate", "idempotency-key", "if-none-match",
        "if-modified-since", "cache-control", "pragma", "date", "user-agent",
    ]

    /// What a value has to have been stored with, so that a call may take it.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - part: Which part of the answer the value is.
    ///   - types: What the reader of the answer takes, as the value of `Accept`; anything when `nil`. They play no part where
    ///     the call says itself what it accepts, which its key has, or no answer depends on it.
    /// - Returns: The stamp.
    func stamp(of configuration: APIConfiguration, _ part: AnswerPart, asking types: String?) -> CacheStamp {
        let asksByReader = configuration.headers["Accept"] == nil && !ignoredHeaders.contains("accept")
        return CacheStamp(
            version: version,
            sensitiveData: sensitiveData,
            part: part,
            accept: asksByReader ? types ?? "*/*" : nil
        )
    }

    /// How long a stored answer is kept beyond its lifetime.
    var keepsStaleFor: Duration { max(staleWhileRevalidate, staleIfError, .zero) }
}

extension APIConfiguration {
    private enum CachePolicyKey: ConfigurationKey {
        static let defaultValue = Boxed(CachePolicy())
    }

    /// How the call uses stored answers.
    public var cache: CachePolicy {
        get { cacheBox.value }
        set { self[CachePolicyKey.self] = Boxed(newValue) }
    }

    /// The policy behind one reference, for what is done in every call: copying it costs as much as finding an answer.
    var cacheBox: Boxed<CachePolicy> { self[CachePolicyKey.self] }
}

extension CachePolicy {
    /// A fingerprint of ``sensitiveData``.
    var sensitiveDigest: Data? {
        sensitiveData.map { MessageDigest.sha256(Data($0.utf8)) }
    }
}
