import Foundation
import SwitchyardClient
package import SwitchyardHTTP
import SwitchyardServices

/// A stored value with its metadata.
package struct CachedValue<Value: Sendable>: Sendable {
    /// The stored value.
    package var value: Value
    /// The time since the value was stored.
    package var age: Duration
    /// Whether the lifetime of the value has not passed yet.
    package var isFresh: Bool
    /// The tags that the value was stored with.
    package var tags: Set<String>
    /// The head of the response from which the value was decoded, or `nil` if the app stored the value itself.
    package var answer: HTTPResponse?
    /// The URL to which redirects led, or `nil` if there was no redirect.
    ///
    /// The validators of the response belong to this URL.
    var redirectedTo: String?
    /// The cost of the value in bytes.
    package var cost: Int
    /// The head and times of the response if HTTP's rules decide how long it is fresh (``CachePolicy/Freshness/http``),
    /// otherwise `nil`.
    var http: HTTPFreshness?
    /// The data on which the value depends besides the request.
    var stamp = CacheStamp()
}

/// The data on which a stored value depends besides its request: version, sensitive data, part of the response and
/// requested content types.
package struct CacheStamp: Sendable, Hashable {
    var version = 0
    var sensitiveData: String?
    /// The part of the response that is the value.
    var part = ResponsePart.whole
    /// The content types that the call requested, as the value of `Accept`, or `nil` if they are unknown or have no
    /// effect.
    var accept: String?

    /// Returns the reason why a value with this stamp cannot be used for a call that needs another stamp, or `nil` if
    /// it can.
    func refusal(for wanted: CacheStamp) -> APIError.CacheReason? {
        if version != wanted.version { return .versionMismatch }
        if part != wanted.part || !Self.isServed(wanted.accept, by: accept) { return .invalidMetadata }
        return sensitiveData == wanted.sensitiveData ? nil : .sensitiveDataMismatch
    }

    /// Returns whether a response to a request that accepted `asked` can be used for a request that accepts `wanted`.
    ///
    /// If `wanted` or `asked` is unknown (`nil`), the result is `true`.
    package static func isServed(_ wanted: String?, by asked: String?) -> Bool {
        guard let wanted, let asked else { return true }
        return wanted == asked
    }
}

extension APIResponse {
    /// Creates a response from a stored value.
    package init(_ cached: CachedValue<Value>) {
        self.init(
            value: cached.value,
            response: cached.http.map { HTTPCacheRules.handedOut($0, now: cached.now($0)) }
                ?? cached.answer ?? HTTPResponse(status: 200),
            source: cached.isFresh ? .cache(age: cached.age) : .staleCache(age: cached.age)
        )
    }
}

extension CachedValue {
    /// Returns the current time, from which the age of a response is calculated.
    ///
    /// It is the arrival of the response plus the monotonic time since then.
    ///
    /// Changes of the wall clock do not affect the result.
    func now(_ http: HTTPFreshness) -> Date {
        http.received.addingTimeInterval(age.inSeconds)
    }
}
