import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The way in which a call uses its stored response.
enum StoredUse: Sendable {
    /// The stored response is returned, and no request is sent.
    case answer
    /// The stored response is returned, and a request is sent to refresh it for the next call.
    ///
    /// The request has these header fields, with which the server may revalidate the stored response.
    case respondAndRefresh(HTTPHeaders)
    /// The stored response cannot be used, and the call forbids sending a request.
    case refuse(APIError.CacheReason)
    /// A request is sent with these header fields, with which the server may revalidate the stored response.
    case ask(HTTPHeaders)

    /// Returns how a call uses its stored response, according to the policy, the state of the stored response and the
    /// request's header fields.
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
        return isUsable(stored, policy, lifetime) ? .respondAndRefresh(conditions) : .ask(conditions)
    }

    /// Returns how a call uses its stored response according to HTTP's rules.
    ///
    /// The policy's times for stale responses apply if neither the response nor the request forbids stale use.
    private static func of<Value: Sendable>(
        _ stored: CachedValue<Value>,
        _ http: HTTPFreshness,
        _ policy: CachePolicy,
        _ lifetime: Duration,
        _ request: HTTPHeaders
    ) -> StoredUse {
        var conditions = HTTPHeaders()
        switch HTTPCacheRules.reuse(http, for: request, now: stored.now(http)) {
        case .fresh: return .answer
        case .freshEnough:
            return policy.reading == .only ? .answer : .respondAndRefresh(HTTPCacheRules.conditions(for: http))
        case .validate(let fields): conditions = fields
        case .none: break
        }
        let isAllowed =
            HTTPCacheRules.mayBeStale(http) && http.matches(request) && !HTTPCacheRules.demandsFreshness(request)
        if policy.reading == .only { return isAllowed ? reading(stored, policy, lifetime) : .refuse(.expired) }
        return isAllowed && isUsable(stored, policy, lifetime) ? .respondAndRefresh(conditions) : .ask(conditions)
    }

    /// Returns how a call that forbids sending a request uses its stored response.
    private static func reading<Value: Sendable>(
        _ stored: CachedValue<Value>,
        _ policy: CachePolicy,
        _ lifetime: Duration
    ) -> StoredUse {
        let isAllowed = stored.isFresh || stored.age < (stored.lifetime ?? lifetime) + policy.keepsStaleFor
        return isAllowed ? .answer : .refuse(.expired)
    }

    /// Returns whether the stored response may be returned while a request refreshes it.
    private static func isUsable<Value: Sendable>(
        _ stored: CachedValue<Value>,
        _ policy: CachePolicy,
        _ lifetime: Duration
    ) -> Bool {
        let limit = (stored.lifetime ?? lifetime) + policy.staleWhileRevalidate
        return policy.staleWhileRevalidate > .zero && stored.age < limit
    }

    /// Returns whether the stored response may be returned because the server failed.
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
    /// The lifetime that the response itself sets, or `nil` if the call's lifetime applies.
    fileprivate var lifetime: Duration? {
        http.map { .seconds(max(0, $0.lifetime - $0.age(at: $0.received))) }
    }
}
