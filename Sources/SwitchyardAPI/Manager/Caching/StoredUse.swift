import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// What a call does with the answer that is stored for it.
enum StoredUse: Sendable {
    /// It is the answer.
    case answer
    /// It is the answer, and the server is asked for the next call, with the fields by which it may confirm what is stored.
    case answerAndRefresh(HTTPHeaders)
    /// It may not be used, and the server may not be asked.
    case refuse(APIError.CacheReason)
    /// The server is asked, with the fields by which it may confirm what is stored.
    case ask(HTTPHeaders)

    /// Decides by the policy, the state of what is stored, and the request's header fields.
    static func of<Value: Sendable>(
        _ stored: CachedValue<Value>,
        _ policy: CachePolicy,
        lifetime: Duration,
        request: HTTPHeaders
    ) -> StoredUse {
        if policy.reading != .never, policy.freshness == .http, let http = stored.http {
            return of(stored, http, policy, lifetime, request)
        }
        if policy.reading == .only { return reading(stored, policy, lifetime) }
        let conditions =
            policy.keepsForConfirmation > .zero ? HTTPCacheRules.conditions(for: stored.answer?.headers ?? [:]) : [:]
        if policy.reading == .never { return .ask(conditions) }
        if stored.isFresh { return .answer }
        return isUsable(stored, policy, lifetime) ? .answerAndRefresh(conditions) : .ask(conditions)
    }

    /// Decides by HTTP's rules; the policy's own windows hold where neither answer nor request forbids them.
    private static func of<Value: Sendable>(
        _ stored: CachedValue<Value>,
        _ http: HTTPStoredAnswer,
        _ policy: CachePolicy,
        _ lifetime: Duration,
        _ request: HTTPHeaders
    ) -> StoredUse {
        var conditions = HTTPHeaders()
        switch HTTPCacheRules.reuse(http, for: request, now: stored.now(http)) {
        case .fresh: return .answer
        case .freshEnough:
            return policy.reading == .only ? .answer : .answerAndRefresh(HTTPCacheRules.conditions(for: http))
        case .validate(let fields): conditions = fields
        case .none: break
        }
        let isAllowed =
            HTTPCacheRules.mayBeStale(http) && http.matches(request) && !HTTPCacheRules.demandsFreshness(request)
        if policy.reading == .only { return isAllowed ? reading(stored, policy, lifetime) : .refuse(.expired) }
        return isAllowed && isUsable(stored, policy, lifetime) ? .answerAndRefresh(conditions) : .ask(conditions)
    }

    /// What is read without the server.
    private static func reading<Value: Sendable>(
        _ stored: CachedValue<Value>,
        _ policy: CachePolicy,
        _ lifetime: Duration
    ) -> StoredUse {
        let isAllowed = stored.isFresh || stored.age < (stored.lifetime ?? lifetime) + policy.keepsStaleFor
        return isAllowed ? .answer : .refuse(.expired)
    }

    /// Whether the answer may be given while the server is asked.
    private static func isUsable<Value: Sendable>(
        _ stored: CachedValue<Value>,
        _ policy: CachePolicy,
        _ lifetime: Duration
    ) -> Bool {
        let limit = (stored.lifetime ?? lifetime) + policy.staleWhileRevalidate
        return policy.staleWhileRevalidate > .zero && stored.age < limit
    }

    /// Whether the answer may stand in for a server that failed.
    static func mayStandIn<Value: Sendable>(
        _ stored: CachedValue<Value>,
        _ policy: CachePolicy,
        lifetime: Duration,
        request: HTTPHeaders
    ) -> Bool {
        if policy.freshness == .http, let http = stored.http {
            guard HTTPCacheRules.mayBeStale(http), http.matches(request) else { return false }
            if HTTPCacheRules.mayStandIn(http, now: stored.now(http)) { return true }
        }
        let limit = (stored.lifetime ?? lifetime) + policy.staleIfError
        return policy.staleIfError > .zero && stored.age < limit
    }
}

extension CachedValue {
    /// The lifetime that the answer itself says; `nil` when the call decides.
    fileprivate var lifetime: Duration? {
        http.map { .seconds(max(0, $0.lifetime - $0.age(at: $0.received))) }
    }
}
