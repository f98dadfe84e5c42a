public import SwitchyardClient
import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// The way in which one call uses stored responses, besides its lifetime
/// (``/SwitchyardClient/APIConfiguration/cacheLifetime``).
///
///     var configuration = APIConfiguration(path: "topics")
///     configuration.cacheLifetime = .seconds(60)
///     configuration.cache.staleIfError = .seconds(3_600)
public struct CachePolicy: Sendable {
    /// The use of a stored response.
    public enum Reading: Sendable, Hashable {
        /// Returns a fresh stored response, or sends a request if there is none; the default.
        case whenFresh
        /// Sends a request, as for pull to refresh, and stores the response.
        case never
        /// Returns a stored response and never sends a request. If no response is stored, the call fails with
        /// ``APIError/Reason/cache(_:)``.
        case only
    }

    /// The rule that decides how long a response is fresh.
    public enum Freshness: Sendable, Hashable {
        /// The lifetime of the call; the default.
        case lifetime
        /// The response's own header fields (RFC 9111) decide; the lifetime of the call only permits storing.
        ///
        /// The cache is a private one. The request's own header fields are part of the key, so `Vary` is obeyed for
        /// these fields; fields that are common to all requests are treated as equal. A response that varies by
        /// `Cookie` becomes invalid when the cookies of the client's jar change, and is not stored on disk. If a call
        /// with an unsafe method such as PUT or DELETE succeeds, the stored responses of its path are removed, also if
        /// the call names the path by an absolute URL.
        ///
        /// The policy's own windows for stale responses apply too, but not against the response's `must-revalidate`,
        /// `no-cache` or `Vary`. ``CachePolicy/staleWhileRevalidate`` does not apply to a request that demands a
        /// freshness.
        case http
    }

    /// Whether the call uses the cache; if `nil`, the default, the cache's ``ResponseCache/defaults`` apply.
    public var isEnabled: Bool?
    /// The rule that decides how long a response is fresh.
    public var freshness = Freshness.lifetime
    /// The use of a stored response.
    public var reading = Reading.whenFresh
    /// Whether the response is stored; default is `true`.
    public var stores = true
    /// The time after its lifetime during which a stored response is returned while a new one is fetched (RFC 5861).
    ///
    /// Default is zero.
    public var staleWhileRevalidate = Duration.zero
    /// The time after its lifetime during which a stored response is returned if the network or the server fails (RFC
    /// 5861).
    ///
    /// Default is zero.
    public var staleIfError = Duration.zero
    /// The time after its lifetime during which a response with a validator (`ETag`, `Last-Modified`) is kept, so that
    /// the server can confirm it instead of sending it again.
    ///
    /// Default is a day; zero never asks for confirmation. Only GET and HEAD requests are conditional, because a server
    /// refuses other methods whose condition fails (RFC 9110 section 13.2.2). A response that came over redirects is
    /// confirmed at the URL where they led, and nowhere else. A confirmation with another entity tag belongs to other
    /// content, which is then requested without conditions (RFC 9111 section 4.3.4).
    public var keepsForConfirmation = Duration.seconds(86_400)
    /// The tags by which the stored response can be removed.
    public var tags: Set<String> = []
    /// The names of parameters on which the response does not depend, such as a time stamp.
    public var ignoredParameters: Set<String> = []
    /// The names, in lower case, of request header fields on which the response does not depend.
    ///
    /// If `accept` is among them, a stored response is used whatever content types were requested.
    public var ignoredHeaders = CachePolicy.neverInKeys
    /// Whether the responses of each server are stored separately; default is `false`, because the servers of a service
    /// return the same responses.
    ///
    /// If `true`, a response from a server other than the preferred one is not stored.
    public var separatesServers = false
    /// The version of the response's format; a call does not use responses of another version.
    public var version = 0
    /// Data on which the response depends besides the request, such as the user's rights; a call does not use responses
    /// that were stored with other data.
    ///
    /// Only a fingerprint of this value is stored on disk.
    public var sensitiveData: String?
    /// Whether the response is also stored on disk if the cache has a disk store; default is `true`.
    public var usesDisk = true
    /// A closure that returns the response to store, or `nil` to store nothing.
    ///
    /// If `nil`, the default, the closure of the cache's ``ResponseCache/defaults`` applies. When a server confirms a
    /// stored response, the closure receives header fields and times only: the body is empty, and the stored body
    /// stays.
    public var willStore: (@Sendable (StoredResponse) -> StoredResponse?)?
    /// The tags whose stored responses are removed when this call succeeds, for example after a change.
    public var removesTags: Set<String> = []
    /// Whether responses to methods that may change something (POST) are stored too; default is `false`.
    public var allowsUnsafeMethods = false

    /// Creates the default policy.
    public init() {}

    /// The header fields that differ in every request and do not affect the response.
    package static let neverInKeys: Set<String> = [
        "x-request-id", "x-correlation-id", "traceparent", "tracestate", "idempotency-key", "if-none-match",
        "if-modified-since", "cache-control", "pragma", "date", "user-agent",
    ]

    /// Returns the stamp that a stored value must have so that a call can use the value.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - part: The part of the response that is the value.
    ///   - types: The content types that the reader accepts, as the value of `Accept`; `nil` for any. The types do not
    ///     matter if the call sets `Accept` itself, which is part of its key, or if no response depends on it.
    /// - Returns: The stamp.
    func stamp(of configuration: APIConfiguration, _ part: ResponsePart, asking types: String?) -> CacheStamp {
        let asksByReader = configuration.headers["Accept"] == nil && !ignoredHeaders.contains("accept")
        return CacheStamp(
            version: version,
            sensitiveData: sensitiveData,
            part: part,
            accept: asksByReader ? types ?? "*/*" : nil
        )
    }

    /// The time after its lifetime during which a stored response is kept.
    var keepsStaleFor: Duration { max(staleWhileRevalidate, staleIfError, .zero) }
}

extension APIConfiguration {
    private enum CachePolicyKey: ConfigurationKey {
        static let defaultValue = Boxed(CachePolicy())
    }

    /// The way in which the call uses stored responses.
    public var cache: CachePolicy {
        get { cacheBox.value }
        set { self[CachePolicyKey.self] = Boxed(newValue) }
    }

    /// The policy as one reference, for work in every call: copying the policy costs as much as finding a response.
    var cacheBox: Boxed<CachePolicy> { self[CachePolicyKey.self] }
}

extension CachePolicy {
    /// A fingerprint of ``sensitiveData``.
    var sensitiveDigest: Data? {
        sensitiveData.map { MessageDigest.sha256(Data($0.utf8)) }
    }
}
