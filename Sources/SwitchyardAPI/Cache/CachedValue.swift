import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// The head of a stored response.
public struct CachedResponse: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The URL that redirects led to, and that its validators belong to; `nil` without any.
    package var redirectedTo: String?

    /// Creates the head of a response.
    package init(status: Int, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.headers = headers
    }
}

/// A value from a cache, with what is known of it.
package struct CachedValue<Value: Sendable>: Sendable {
    /// The value.
    package var value: Value
    /// How long ago it was stored.
    package var age: Duration
    /// Whether its lifetime has not passed yet.
    package var isFresh: Bool
    /// The tags it was stored with.
    package var tags: Set<String>
    /// The answer that it came from; `nil` when it was stored by hand.
    package var answer: CachedResponse?
    /// Its cost in bytes.
    package var cost: Int
    /// The response with its times, if HTTP's own rules decide on it.
    var http: HTTPStoredResponse?
    /// The data on which the stored value depends besides the request.
    var stamp = CacheStamp()
}

/// The data on which a value depends besides its request: version, sensitive data and part of the response.
package struct CacheStamp: Sendable, Hashable {
    var version = 0
    var sensitiveData: String?
    /// The part of the response that is the value.
    var part = ResponsePart.whole
    /// The content types that the reader requested, as the value of `Accept`; `nil` if they are unknown or do not
    /// matter.
    var accept: String?

    /// Why a value with this stamp is not the one wanted.
    func refusal(for wanted: CacheStamp) -> APIError.CacheReason? {
        if version != wanted.version { return .versionMismatch }
        if part != wanted.part || !Self.isServed(wanted.accept, by: accept) { return .invalidMetadata }
        return sensitiveData == wanted.sensitiveData ? nil : .sensitiveDataMismatch
    }

    /// Whether a response to a request that accepted `asked` can serve one that accepts `wanted`; `true` if either is
    /// unknown.
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
    /// Returns the current time relative to the response: its arrival plus the monotonic time since, which clock
    /// changes do not affect.
    func now(_ http: HTTPStoredResponse) -> Date {
        http.received.addingTimeInterval(age.inSeconds)
    }
}
