import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// The head of an answer that was stored.
public struct CachedAnswer: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The URL that redirects led to, and that its validators belong to; `nil` without any.
    public var redirectedTo: String?

    /// Creates the head of an answer.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.headers = headers
    }
}

/// A value from a cache, with what is known of it.
public struct CachedValue<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// How long ago it was stored.
    public var age: Duration
    /// Whether its lifetime has not passed yet.
    public var isFresh: Bool
    /// The tags it was stored with.
    public var tags: Set<String>
    /// The answer that it came from; `nil` when it was stored by hand.
    public var answer: CachedAnswer?
    /// Its cost in bytes.
    public var cost: Int
    /// The answer with its times, when HTTP's own rules decide on it.
    var http: HTTPStoredAnswer?
    /// What it was stored with, beside the request.
    var stamp = CacheStamp()
}

/// What a value depends on beside its request: another version, other data or another part does not take it.
package struct CacheStamp: Sendable, Hashable {
    var version = 0
    var sensitiveData: String?
    /// Which part of the answer the value is.
    var part = AnswerPart.whole
    /// What was asked for because of the reader, as the value of `Accept`; `nil` where that is not known, or plays no part.
    var accept: String?

    /// Why a value with this stamp is not the one wanted.
    func refusal(for wanted: CacheStamp) -> APIError.CacheReason? {
        if version != wanted.version { return .versionMismatch }
        if part != wanted.part || !Self.isServed(wanted.accept, by: accept) { return .invalidMetadata }
        return sensitiveData == wanted.sensitiveData ? nil : .sensitiveDataMismatch
    }

    /// Whether what was asked for in one way stands for what is asked for in another; so it is where either is not known.
    package static func isServed(_ wanted: String?, by asked: String?) -> Bool {
        guard let wanted, let asked else { return true }
        return wanted == asked
    }
}

extension APIResponse {
    /// Creates a response of a stored value.
    init(_ cached: CachedValue<Value>) {
        self.init(
            value: cached.value,
            status: cached.answer?.status ?? 200,
            headers: cached.http.map { HTTPCacheRules.handedOut($0, now: cached.now($0)) }
                ?? cached.answer?.headers ?? HTTPHeaders(),
            source: cached.isFresh ? .cache(age: cached.age) : .staleCache(age: cached.age)
        )
    }
}

extension CachedValue {
    /// The time by the server's answer: when it came, and the time since, which no setting of the clock changes.
    func now(_ http: HTTPStoredAnswer) -> Date {
        http.received.addingTimeInterval(age.inSeconds)
    }
}
