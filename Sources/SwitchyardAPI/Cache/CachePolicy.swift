public import SwitchyardClient
import Foundation
import SwitchyardHTTP
package import SwitchyardServices

/// The way in which one call uses stored responses.
///
///     var configuration = APIConfiguration.get("topics")
///     configuration.cache.lifetime = .seconds(60)
///     configuration.cache.staleIfError = .seconds(3_600)
public struct CachePolicy: Sendable {
    /// Whether a call returns a stored response, sends a request, or both.
    public enum Reading: Sendable, Hashable {
        /// Returns a fresh stored response. If there is no fresh response, sends a request. This is the default.
        case whenFresh
        /// Always sends a request, as for pull to refresh, and stores its response.
        case never
        /// Returns a stored response and never sends a request. If no response is stored, the call fails with
        /// ``APIError/Reason/cache(_:)``.
        case only
    }

    /// The rule that decides how long a response is fresh.
    public enum Freshness: Sendable, Hashable {
        /// The lifetime of the call decides. This is the default.
        case lifetime
        /// The response's own header fields decide (RFC 9111). The lifetime of the call only permits storing.
        ///
        /// The cache is a private cache. The call's own header fields are part of the cache key, so `Vary` is obeyed
        /// for these fields. Fields that are common to all requests are treated as equal. A response that varies by
        /// `Cookie` becomes invalid when the cookies in the client's cookie storage change, and is not stored on disk.
        /// If a call with an unsafe method such as PUT or DELETE succeeds, the stored responses for its path are
        /// removed, even if the call gives the path as an absolute URL.
        ///
        /// ``CachePolicy/staleWhileRevalidate`` and ``CachePolicy/staleIfError`` apply too, unless the response forbids
        /// stale use with `must-revalidate`, `no-cache` or `Vary`. ``CachePolicy/staleWhileRevalidate`` does not apply
        /// to a request whose `Cache-Control` demands a fresh response.
        case http
    }

    /// Whether the call uses the cache.
    ///
    /// If `nil` (the default), the cache's ``ResponseCache/defaults`` apply.
    public var isEnabled: Bool?
    /// The time for which the response may be served from the cache.
    ///
    /// If the value is `nil` (the default), the cache's ``ResponseCache/defaults`` apply. If it is zero or negative, or
    /// if there is no default, nothing is cached. The value also limits the stored responses that this call accepts: if
    /// another call stored a response for longer, it is fresh for this call only while it is younger than this value.
    public var lifetime: Duration?
    /// The rule that decides how long a response is fresh.
    public var freshness = Freshness.lifetime
    /// Whether the call returns a stored response, sends a request, or both.
    public var reading = Reading.whenFresh
    /// Whether the response is stored, `true` by default.
    public var stores = true
    /// The time after the lifetime of a stored response during which it is still returned while a new response is
    /// fetched (RFC 5861).
    ///
    /// It is zero by default.
    public var staleWhileRevalidate = Duration.zero
    /// The time after the lifetime of a stored response during which it is still returned if the network or the server
    /// fails (RFC 5861).
    ///
    /// It is zero by default.
    public var staleIfError = Duration.zero
    /// The time after the lifetime of a stored response during which it is kept if it has a validator (`ETag`,
    /// `Last-Modified`).
    ///
    /// It is a day by default. The server can revalidate (304) a response that is kept instead of sending it again. If
    /// the time is zero, no stored response is revalidated. Only GET and HEAD requests are conditional, because a
    /// server rejects other methods whose condition fails (RFC 9110 section 13.2.2). A redirected response is
    /// revalidated only at the URL to which the redirects led. If the 304 response has another entity tag, it belongs
    /// to other content, so the content is requested again without conditions (RFC 9111 section 4.3.4).
    public var keepsForConfirmation = Duration.seconds(86_400)
    /// The tags by which the stored response can be removed.
    public var tags: Set<String> = []
    /// The names of parameters on which the response does not depend, such as a time stamp.
    public var ignoredParameters: Set<String> = []
    /// The names, in lower case, of request header fields on which the response does not depend.
    ///
    /// If `accept` is one of the names, a stored response is used whatever content types the new call requests.
    public var ignoredHeaders = CachePolicy.neverInKeys
    /// Whether the responses of each server are stored separately.
    ///
    /// It is `false` by default, because the servers of a service are expected to return the same responses. If `true`,
    /// a response is stored only if it comes from the preferred server.
    public var separatesServers = false
    /// The version of the response's format.
    ///
    /// A call does not use responses that were stored with another version.
    public var version = 0
    /// Data on which the response depends besides the request, such as the user's rights.
    ///
    /// A call does not use responses that were stored with other data. Only a fingerprint of this value is stored on
    /// disk.
    public var sensitiveData: String?
    /// Whether the response is also stored on disk, if the cache has a disk store.
    ///
    /// It is `true` by default.
    public var usesDisk = true
    /// A closure that returns the response to store, or `nil` to store nothing.
    ///
    /// If this property is `nil` (the default), the closure of the cache's ``ResponseCache/defaults`` applies. When a
    /// server revalidates a stored response with a 304, the closure receives only header fields and times. The body
    /// that the closure receives is empty, and the stored body is kept.
    public var willStore: (@Sendable (StoredResponse) -> StoredResponse?)?
    /// The tags of the stored responses that are removed if this call succeeds, for example because it is a write
    /// request.
    public var removesTags: Set<String> = []
    /// Whether responses to unsafe methods such as POST are stored too, `false` by default.
    public var allowsUnsafeMethods = false

    /// Creates a policy with the default values.
    public init() {}

    /// The header fields that differ in every request but do not affect the response.
    package static let neverInKeys: Set<String> = [
        "x-request-id", "x-correlation-id", "traceparent", "tracestate", "idempotency-key", "if-none-match",
        "if-modified-since", "cache-control", "pragma", "date", "user-agent",
    ]

    /// Returns the stamp (version, sensitive data, part of the response, content types) that a stored value must have
    /// so that a call can use the value.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - part: The part of the response that is the value.
    ///   - types: The content types that the call requests, as the value of `Accept`, or `nil` for any. The types
    ///     have no effect if the call sets `Accept` itself, because the field is then part of the cache key. They have
    ///     no effect either if ``ignoredHeaders`` contains `accept`.
    /// - Returns: The stamp.
    package func stamp(of configuration: APIConfiguration, _ part: ResponsePart, asking types: String?) -> CacheStamp {
        let asksByReader = configuration.headers["Accept"] == nil && !ignoredHeaders.contains("accept")
        return CacheStamp(
            version: version,
            sensitiveData: sensitiveData,
            part: part,
            accept: asksByReader ? types ?? "*/*" : nil
        )
    }

    /// The maximum time after the lifetime of a stored response during which the response may be returned.
    var keepsStaleFor: Duration { max(staleWhileRevalidate, staleIfError, .zero) }
}

extension APIConfiguration {
    private enum CachePolicyKey: ConfigurationKey {
        static let defaultValue = Boxed(CachePolicy())
    }

    /// The way in which the call uses stored responses.
    public var cache: CachePolicy {
        get {
            var policy = cacheBox.value
            policy.lifetime = cacheLifetime
            return policy
        }
        set {
            cacheLifetime = newValue.lifetime
            // If a call sets only the lifetime, no box for the other settings is created.
            if !newValue.hasDefaultsBesidesLifetime || !cacheBox.value.hasDefaultsBesidesLifetime {
                self[CachePolicyKey.self] = Boxed(newValue)
            }
        }
    }

    /// The policy as one reference, because copying the policy in every call would cost as much as finding a response.
    package var cacheBox: Boxed<CachePolicy> { self[CachePolicyKey.self] }
}

extension CachePolicy {
    /// Whether all settings except ``lifetime`` have their default values.
    fileprivate var hasDefaultsBesidesLifetime: Bool {
        isEnabled == nil && freshness == .lifetime && reading == .whenFresh && stores && staleWhileRevalidate == .zero
            && staleIfError == .zero && keepsForConfirmation == .seconds(86_400) && tags.isEmpty
            && ignoredParameters.isEmpty && ignoredHeaders == Self.neverInKeys && !separatesServers && version == 0
            && sensitiveData == nil && usesDisk && willStore == nil && removesTags.isEmpty && !allowsUnsafeMethods
    }

    /// A fingerprint of ``sensitiveData``.
    var sensitiveDigest: Data? {
        sensitiveData.map { MessageDigest.sha256(Data($0.utf8)) }
    }
}
