public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// An answer as a store beyond memory keeps it: the bytes, and what decides whether they may still be used.
public struct StoredAnswer: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The whole body.
    public var body: Data
    /// When the answer came, by the wall clock.
    public var created: Date
    /// The time between asking and answering.
    public var transit: Duration
    /// How long it is fresh from then on.
    public var lifetime: Duration
    /// How long it is kept beyond its lifetime.
    public var staleFor: Duration
    /// The version of the answer's format (``CachePolicy/version``).
    public var version: Int
    /// A fingerprint of ``CachePolicy/sensitiveData``; the data itself is not kept.
    public var sensitiveDigest: Data?
    /// The character set that the answer named; `nil` when it named none.
    public var charset: String?
    /// The version of the app that stored it; `nil` when that plays no part.
    public var appVersion: String?
    /// The URL that redirects led to, and that its validators belong to; `nil` without any.
    public var redirectedTo: String?
    /// What was asked for because of the answer's reader, as the value of `Accept`; `nil` when that is not known, or the
    /// call said itself what it accepts.
    ///
    /// A reader that asks for other types takes no answer that says it depends on them (`Vary`).
    public var accept: String?
    /// The tags it was stored with.
    public var tags: Set<String>

    /// Creates an answer.
    public init(
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

    /// The answer without its body and its times.
    var head: CachedAnswer {
        var head = CachedAnswer(status: status, headers: headers)
        head.redirectedTo = redirectedTo
        return head
    }

    /// Takes the header fields and times of another answer, which confirmed this one.
    public mutating func take(from answer: StoredAnswer) {
        headers = answer.headers
        created = answer.created
        transit = answer.transit
        lifetime = answer.lifetime
        staleFor = answer.staleFor
    }

    /// Why the answer may not be used; `nil` when it may.
    ///
    /// The order is that of YTKNetwork: time, version, sensitive data, app version.
    ///
    /// - Parameters:
    ///   - policy: Which version and which sensitive data the call wants.
    ///   - appVersion: The version of the app; `nil` when it plays no part.
    ///   - now: The time by the wall clock. An answer from the future counts as expired, since nothing says how old it
    ///     is.
    /// - Returns: The reason.
    public func refusal(for policy: CachePolicy, appVersion: String?, now: Date) -> APIError.CacheReason? {
        if hasExpired(at: now) { return .expired }
        if version != policy.version { return .versionMismatch }
        if sensitiveDigest != policy.sensitiveDigest { return .sensitiveDataMismatch }
        if let appVersion, appVersion != self.appVersion { return .appVersionMismatch }
        return nil
    }

    /// Whether a reader that asks for these types may take the answer; any may where they are not known.
    func isFor(_ types: String?) -> Bool {
        guard let types, let accept, types != accept else { return true }
        return !dependsOnTypes
    }

    /// Whether the answer says that it depends on what was asked for.
    package var dependsOnTypes: Bool {
        headers.elements(of: "Vary").contains { $0 == "*" || $0.lowercased() == "accept" }
    }

    /// Whether the answer has expired; so has one from the future, and one whose ``created`` is no time at all.
    package func hasExpired(at now: Date) -> Bool {
        let age = now.timeIntervalSince(created)
        return !(age >= 0 && age < (lifetime + staleFor).inSeconds)
    }
}

/// A store of answers beyond memory, on disk or wherever an app keeps things.
///
/// `DiskCache` is the one that comes along. Methods that change something may do it later, in the order of the calls.
public protocol AnswerStore: Sendable {
    /// The version of the app; answers of other versions are refused. `nil` when it plays no part.
    var appVersion: String? { get }

    /// The answer stored under a key.
    ///
    /// - Throws: ``APIError/CacheReason/invalidMetadata`` when there is none, ``APIError/CacheReason/invalidData`` when it
    ///   is damaged.
    func answer(for key: CacheKey) async throws(APIError.CacheReason) -> StoredAnswer

    /// Stores an answer in the place of an older one.
    func store(_ answer: StoredAnswer, for key: CacheKey)

    /// Takes note that a server confirmed the answer of a key; does nothing when there is none.
    ///
    /// Header fields and times become those of `answer`, which has no body: the stored one stays.
    func confirm(_ key: CacheKey, by answer: StoredAnswer)

    /// Takes note that a server confirmed an answer of a key; another answer that is stored there goes.
    ///
    /// Unless a store does it otherwise, whatever is stored there is taken for the one that was confirmed.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - headers: The header fields of the answer that was confirmed. One whose validators (`ETag`, `Last-Modified`) are
    ///     not the same is another: somebody else may have stored it, as another process.
    ///   - answer: The header fields and times from now on; it has no body.
    func confirm(_ key: CacheKey, with headers: HTTPHeaders, by answer: StoredAnswer)

    /// Removes the answer of a key.
    func remove(_ key: CacheKey)

    /// Removes the answers that a rule names.
    func removeAll(where rule: @escaping @Sendable (ResponseCache.Candidate) -> Bool)

    /// Removes the answers of a partition, those of all users when it names none.
    func removeAll(in partition: CachePartition)

    /// Removes the answers of a service in an environment that are no named user's.
    ///
    /// Unless a store does it otherwise, by a rule.
    func removeUnnamed(in partition: CachePartition)

    /// Takes note that a call has changed what a path answers, for the runs to come; does nothing unless a store can.
    ///
    /// - Parameters:
    ///   - path: The path, without slashes at its beginning.
    ///   - partition: The service and the environment; the change holds for all users.
    ///   - date: When, by the wall clock; takes the place of an earlier one.
    func noteChange(of path: String, in partition: CachePartition, at date: Date)

    /// When a call changed what a path answers, the last time that is known; `nil` unless a store takes note.
    ///
    /// What was stored before is not used where HTTP's rules decide (RFC 9111 section 4.4). A time that is too late costs
    /// a request, and no more.
    func lastChange(of path: String, in partition: CachePartition) async -> Date?
}

extension AnswerStore {
    /// Takes what is stored for the answer that was confirmed.
    public func confirm(_ key: CacheKey, with headers: HTTPHeaders, by answer: StoredAnswer) {
        confirm(key, by: answer)
    }

    /// Removes them by a rule.
    public func removeUnnamed(in partition: CachePartition) {
        let nobody = partition.withoutUser
        removeAll { $0.partition == nobody }
    }

    /// Does nothing.
    public func noteChange(of path: String, in partition: CachePartition, at date: Date) {}

    /// Knows of none.
    public func lastChange(of path: String, in partition: CachePartition) async -> Date? { nil }
}
