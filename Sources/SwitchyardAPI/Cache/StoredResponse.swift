public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A response as a store beyond memory keeps it: the bytes, and the data that decides whether they can still be used.
public struct StoredResponse: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The whole body.
    public var body: Data
    /// The arrival of the response, by the wall clock.
    public var created: Date
    /// The time between asking and answering.
    package var transit: Duration
    /// The time after ``created`` for which the response is fresh.
    public var lifetime: Duration
    /// The time after its lifetime during which the response is kept.
    public var staleFor: Duration
    /// The version of the response's format (``CachePolicy/version``).
    package var version: Int
    /// A fingerprint of ``CachePolicy/sensitiveData``; the data itself is not kept.
    package var sensitiveDigest: Data?
    /// The character set that the response names; `nil` if it names none.
    package var charset: String?
    /// The version of the app that stored it; `nil` when that plays no part.
    package var appVersion: String?
    /// The URL that redirects led to, and that its validators belong to; `nil` without any.
    package var redirectedTo: String?
    /// The content types that the reader requested, as the value of `Accept`; `nil` if they are unknown or the call set
    /// `Accept`.
    ///
    /// A reader that requests other types does not use a response that depends on them (`Vary`).
    package var accept: String?
    /// The tags it was stored with.
    public var tags: Set<String>

    /// Creates a stored response.
    package init(
        status: Int = 200,
        headers: HTTPHeaders = HTTPHeaders(),
        body: Data,
        created: Date,
        lifetime: Duration,
        staleFor: Duration = .zero
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.created = created
        self.lifetime = lifetime
        self.staleFor = staleFor
        transit = .zero
        version = 0
        charset = headers.contentType.flatMap { MediaType($0)?.charset }
        tags = []
    }

    /// The response without its body and its times.
    var head: CachedResponse {
        var head = CachedResponse(status: status, headers: headers)
        head.redirectedTo = redirectedTo
        return head
    }

    /// Takes the header fields and times of another response, which confirmed this one.
    package mutating func take(from answer: StoredResponse) {
        headers = answer.headers
        created = answer.created
        transit = answer.transit
        lifetime = answer.lifetime
        staleFor = answer.staleFor
    }

    /// Returns the reason why the response cannot be used; `nil` if it can.
    ///
    /// The order of the checks is that of YTKNetwork: time, version, sensitive data, app version.
    ///
    /// - Parameters:
    ///   - policy: The policy with the version and the sensitive data of the call.
    ///   - appVersion: The version of the app; `nil` if it does not matter.
    ///   - now: The time by the wall clock. A response from the future counts as expired, because its age is unknown.
    /// - Returns: The reason.
    package func refusal(for policy: CachePolicy, appVersion: String?, now: Date) -> APIError.CacheReason? {
        if hasExpired(at: now) { return .expired }
        if version != policy.version { return .versionMismatch }
        if sensitiveDigest != policy.sensitiveDigest { return .sensitiveDataMismatch }
        if let appVersion, appVersion != self.appVersion { return .appVersionMismatch }
        return nil
    }

    /// Whether a reader that requests these types can use the response; `true` if the types are unknown.
    func isFor(_ types: String?) -> Bool {
        guard let types, let accept, types != accept else { return true }
        return !dependsOnTypes
    }

    /// Whether the response depends on the requested content types.
    package var dependsOnTypes: Bool {
        headers.elements(of: "Vary").contains { $0 == "*" || $0.lowercased() == "accept" }
    }

    /// Whether the response has expired; also `true` for a response from the future or with an invalid ``created``
    /// time.
    package func hasExpired(at now: Date) -> Bool {
        let age = now.timeIntervalSince(created)
        return !(age >= 0 && age < (lifetime + staleFor).inSeconds)
    }
}

/// A store of responses beyond memory, on disk or elsewhere.
///
/// `DiskCache` is the implementation of the library. Methods that change something may do so later, in the order of the
/// calls.
package protocol ResponseStore: Sendable {
    /// The version of the app, or `nil` if it does not matter; responses of other versions are refused.
    var appVersion: String? { get }

    /// Returns the response stored under a key.
    ///
    /// - Throws: ``APIError/CacheReason/invalidMetadata`` if there is none, ``APIError/CacheReason/invalidData`` if it
    ///   is damaged.
    func answer(for key: CacheKey) async throws(APIError.CacheReason) -> StoredResponse

    /// Stores a response and replaces an older one.
    func store(_ answer: StoredResponse, for key: CacheKey)

    /// Records that a server confirmed the response of a key; does nothing if there is none.
    ///
    /// Header fields and times become those of `answer`, which has no body; the stored body stays.
    func confirm(_ key: CacheKey, by answer: StoredResponse)

    /// Records that a server confirmed a response of a key; another response that is stored there is removed.
    ///
    /// The default implementation treats the stored response as the one that was confirmed.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - headers: The header fields of the confirmed response. A stored response whose validators (`ETag`,
    ///     `Last-Modified`) differ is another one, for example from another process.
    ///   - answer: The new header fields and times; it has no body.
    func confirm(_ key: CacheKey, with headers: HTTPHeaders, by answer: StoredResponse)

    /// Removes the response of a key.
    func remove(_ key: CacheKey)

    /// Removes the responses that a rule selects.
    func removeAll(where rule: @escaping @Sendable (ResponseCache.Candidate) -> Bool)

    /// Removes the responses of a partition; if it names no user, those of all users.
    func removeAll(in partition: CachePartition)

    /// Removes the responses of a service in an environment that belong to no named user.
    ///
    /// The default implementation uses ``removeAll(where:)``.
    func removeUnnamed(in partition: CachePartition)

    /// Records for later runs that a call has changed the responses of a path; the default implementation does nothing.
    ///
    /// - Parameters:
    ///   - path: The path, without leading slashes.
    ///   - partition: The service and the environment; the change applies to all users.
    ///   - date: The time of the change by the wall clock; replaces an earlier one.
    func recordChange(of path: String, in partition: CachePartition, at date: Date)

    /// Returns the last known time at which a call changed the responses of a path; `nil` if the store does not record
    /// changes.
    ///
    /// Responses that were stored earlier are not used if HTTP's rules decide (RFC 9111 section 4.4). A time that is
    /// too late only costs a request.
    func lastChange(of path: String, in partition: CachePartition) async -> Date?
}

extension ResponseStore {
    /// Treats the stored response as the one that was confirmed.
    package func confirm(_ key: CacheKey, with headers: HTTPHeaders, by answer: StoredResponse) {
        confirm(key, by: answer)
    }

    /// Removes them by a rule.
    package func removeUnnamed(in partition: CachePartition) {
        let nobody = partition.withoutUser
        removeAll { $0.partition == nobody }
    }

    /// Does nothing.
    package func recordChange(of path: String, in partition: CachePartition, at date: Date) {}

    /// Knows of none.
    package func lastChange(of path: String, in partition: CachePartition) async -> Date? { nil }
}
