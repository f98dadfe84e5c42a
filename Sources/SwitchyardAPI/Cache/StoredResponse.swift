public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A response as a disk store stores it: the bytes, and the data that decides whether they can still be used.
public struct StoredResponse: Sendable, Hashable {
    /// A response with its whole body that can be compared.
    private struct WholeResponse: Sendable, Hashable {
        var response: HTTPResponse

        static func == (one: WholeResponse, other: WholeResponse) -> Bool {
            one.response.status == other.response.status && one.response.headers == other.response.headers
                && one.response.data == other.response.data
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(response.status)
            hasher.combine(response.headers)
            hasher.combine(response.data)
        }
    }

    private var whole: WholeResponse
    /// The time at which the response arrived, by the wall clock.
    public var created: Date
    /// The time between sending the request and receiving the response.
    package var transit: Duration
    /// The time after ``created`` for which the response is fresh.
    public var lifetime: Duration
    /// The time after its lifetime during which the response is kept.
    public var staleFor: Duration
    /// The version of the response's format that the call set (``CachePolicy/version``).
    package var version: Int
    /// A fingerprint of ``CachePolicy/sensitiveData``.
    ///
    /// The data itself is not stored.
    package var sensitiveDigest: Data?
    /// The character set that the response names, or `nil` if it names none.
    package var charset: String?
    /// The version of the app that stored the response, or `nil` if the version is ignored.
    package var appVersion: String?
    /// The URL to which redirects led, or `nil` if there was no redirect.
    ///
    /// The validators of the response belong to this URL.
    package var redirectedTo: String?
    /// The content types that the call requested, as the value of `Accept`.
    ///
    /// The value is `nil` if they are unknown or the app set `Accept` itself.
    ///
    /// A call that requests other types does not use this response if the response depends on the types (`Vary`).
    package var accept: String?
    /// The tags that the response was stored with.
    public var tags: Set<String>

    /// Creates a stored response from its parts.
    package init(
        status: Int = 200,
        headers: HTTPHeaders = HTTPHeaders(),
        body: Data,
        created: Date,
        lifetime: Duration,
        staleFor: Duration = .zero
    ) {
        self.init(
            HTTPResponse(status: status, headers: headers, body: .whole(body)),
            created: created,
            lifetime: lifetime,
            staleFor: staleFor
        )
    }

    /// Creates a stored response from a response with its whole body.
    init(_ response: HTTPResponse, created: Date, lifetime: Duration, staleFor: Duration = .zero) {
        whole = WholeResponse(response: response)
        self.created = created
        self.lifetime = lifetime
        self.staleFor = staleFor
        transit = .zero
        version = 0
        charset = response.headers.contentType.flatMap { MediaType($0)?.charset }
        tags = []
    }

    /// The response with its whole body.
    var response: HTTPResponse { whole.response }
    /// The response without its body.
    var head: HTTPResponse { HTTPResponse(status: status, headers: headers) }

    /// The status.
    public var status: Int {
        get { whole.response.status }
        set { whole.response.status = newValue }
    }
    /// The header fields.
    public var headers: HTTPHeaders {
        get { whole.response.headers }
        set { whole.response.headers = newValue }
    }
    /// The whole body.
    public var body: Data {
        get { whole.response.data ?? Data() }
        set { whole.response.body = .whole(newValue) }
    }

    /// Replaces the header fields and times by those of a 304 response that revalidated this response.
    package mutating func take(from answer: StoredResponse) {
        headers = answer.headers
        created = answer.created
        transit = answer.transit
        lifetime = answer.lifetime
        staleFor = answer.staleFor
    }

    /// Returns the reason why the response cannot be used, or `nil` if it can be used.
    ///
    /// The checks are made in the order of YTKNetwork: time, version, sensitive data, app version.
    ///
    /// - Parameters:
    ///   - policy: The policy with the version and the sensitive data of the call.
    ///   - appVersion: The version of the app, or `nil` to ignore it.
    ///   - now: The wall clock time. A response from the future counts as expired, because its age is unknown.
    /// - Returns: The reason.
    package func refusal(for policy: CachePolicy, appVersion: String?, now: Date) -> APIError.CacheReason? {
        if hasExpired(at: now) { return .expired }
        if version != policy.version { return .versionMismatch }
        if sensitiveDigest != policy.sensitiveDigest { return .sensitiveDataMismatch }
        if let appVersion, appVersion != self.appVersion { return .appVersionMismatch }
        return nil
    }

    /// Returns whether a call that requests these content types can use the response.
    ///
    /// If the types are unknown, the result is `true`.
    func isFor(_ types: String?) -> Bool {
        guard let types, let accept, types != accept else { return true }
        return !dependsOnTypes
    }

    /// Whether the response depends on the requested content types.
    package var dependsOnTypes: Bool {
        headers.elements(of: "Vary").contains { $0 == "*" || $0.lowercased() == "accept" }
    }

    /// Returns whether the response has expired.
    ///
    /// A response from the future or with an invalid ``created`` time counts as expired.
    package func hasExpired(at now: Date) -> Bool {
        let age = now.timeIntervalSince(created)
        return !(age >= 0 && age < (lifetime + staleFor).inSeconds)
    }
}

/// A persistent store of responses, such as a disk.
///
/// `DiskCache` is the implementation of the library. Methods that change the store may take effect later, in the order
/// of the calls.
package protocol ResponseStore: Sendable {
    /// The version of the app. Responses of other versions are not used. If `nil`, the version is ignored.
    var appVersion: String? { get }

    /// Returns the response that is stored for a cache key.
    ///
    /// - Throws: ``APIError/CacheReason/invalidMetadata`` if there is no response, ``APIError/CacheReason/invalidData``
    ///   if it is damaged.
    func answer(for key: CacheKey) async throws(APIError.CacheReason) -> StoredResponse

    /// Stores the response for a cache key and replaces an older response.
    func store(_ answer: StoredResponse, for key: CacheKey)

    /// Updates the stored response for a cache key after a 304 (Not Modified).
    ///
    /// If there is no stored response, nothing happens. The header fields and times are replaced by those of `answer`,
    /// which has no body. The stored body is kept.
    func confirm(_ key: CacheKey, by answer: StoredResponse)

    /// Updates the stored response for a cache key after a 304 (Not Modified).
    ///
    /// If the validators of the stored response differ from those in `headers`, the 304 was for another response, and
    /// the stored response is removed. The default implementation does not compare the validators.
    ///
    /// - Parameters:
    ///   - key: The cache key.
    ///   - headers: The header fields of the response that the 304 is about, with its validators (`ETag`,
    ///     `Last-Modified`). The stored response can have other validators, for example if another process has stored
    ///     it in the meantime.
    ///   - answer: The new header fields and times, without a body.
    func confirm(_ key: CacheKey, with headers: HTTPHeaders, by answer: StoredResponse)

    /// Removes the response for a cache key.
    func remove(_ key: CacheKey)

    /// Removes the responses for which a closure returns `true`.
    func removeAll(where rule: @escaping @Sendable (ResponseCache.Candidate) -> Bool)

    /// Removes the responses of a partition. If the partition names no user, the responses of all users are removed.
    func removeAll(in partition: CachePartition)

    /// Removes the responses of the partition's service and environment that belong to no named user.
    func removeUnnamed(in partition: CachePartition)

    /// Records for later runs that a call has changed the resource at a path.
    ///
    /// - Parameters:
    ///   - path: The path, without leading slashes.
    ///   - partition: The service and the environment. The change applies to all users.
    ///   - date: The wall clock time of the change, which replaces an earlier time.
    func recordChange(of path: String, in partition: CachePartition, at date: Date)

    /// Returns the last known time at which a call changed the resource at a path, or `nil` if the store does not
    /// record changes.
    ///
    /// A response that was stored before this time is not used if HTTP's rules decide how long it is fresh (RFC 9111
    /// section 4.4). If the returned time is too late, the only effect is an additional request.
    func lastChange(of path: String, in partition: CachePartition) async -> Date?
}

extension ResponseStore {
    /// Updates the stored response without comparing validators.
    package func confirm(_ key: CacheKey, with headers: HTTPHeaders, by answer: StoredResponse) {
        confirm(key, by: answer)
    }
}
