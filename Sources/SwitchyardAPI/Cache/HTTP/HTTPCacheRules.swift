import Foundation
import SwitchyardClient
package import SwitchyardHTTP

/// The decisions of a private HTTP cache (RFC 9111) as pure functions: no clock, no store, no network.
package enum HTTPCacheRules {
    /// The way in which a stored response can be used.
    enum Reuse: Sendable, Equatable {
        /// The response can be returned.
        case fresh
        /// The stale response can be returned while a new response is fetched for the next request (RFC 5861).
        case freshEnough
        /// The response can be returned only after the server has revalidated it in a request with these header fields.
        case validate(HTTPHeaders)
        /// The response cannot be used.
        case none
    }

    /// Returns whether a response may be stored (RFC 9111 section 3).
    static func isStorable(method: HTTPMethod, request: HTTPHeaders, status: Int, _ headers: HTTPHeaders) -> Bool {
        let control = CacheControl(headers)
        let isUnderstood = understood.contains(status)
        guard method == .get, status >= 200, status != 206, status != 304, !CacheControl(request).has("no-store")
        else { return false }
        if control.has("must-understand") {
            guard isUnderstood else { return false }
        } else if control.has("no-store") {
            return false
        }
        let isExplicit = control.has("max-age") || headers["Expires"] != nil
        let canBeValidated = !conditions(for: headers).isEmpty
        return isExplicit || mayGuessLifetime(status: status, headers) || (canBeValidated && isUnderstood)
    }

    /// Returns whether a heuristic lifetime is allowed for a response without an explicit lifetime (RFC 9110 section
    /// 15.1).
    static func mayGuessLifetime(status: Int, _ headers: HTTPHeaders) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status) || CacheControl(headers).has("public")
    }

    /// Returns how a stored response can be used now for a request with these header fields (RFC 9111 section 4).
    static func reuse(_ stored: HTTPFreshness, for request: HTTPHeaders, now: Date) -> Reuse {
        guard stored.matches(request) else { return .none }
        let asked = CacheControl(request)
        let control = CacheControl(stored.headers)
        let conditions = conditions(for: stored)
        let otherwise = conditions.isEmpty ? Reuse.none : .validate(conditions)
        guard !asked.has("no-cache"), !isPragma(request), !control.has("no-cache") else { return otherwise }
        let age = stored.age(at: now)
        if let most = asked.seconds("max-age"), age > most { return otherwise }
        let left = stored.lifetime - age - (asked.seconds("min-fresh") ?? 0)
        if left > 0 { return .fresh }
        guard !control.has("must-revalidate") else { return otherwise }
        if asked.has("max-stale"), -left <= allowedStaleness(asked) { return .fresh }
        // A request whose `Cache-Control` demands a fresh response does not accept a stale response (RFC 9111 section
        // 5.2.1).
        guard !demandsFreshness(request), let window = control.seconds("stale-while-revalidate"), -left < window
        else { return otherwise }
        return .freshEnough
    }

    /// Returns whether a stored response may be returned because the server failed (RFC 5861 section 4, RFC 9111
    /// section 4.2.4).
    ///
    /// Even a fresh response must allow this use (`stale-if-error`), because it was not good enough for the call before
    /// the server failed.
    static func mayStandIn(_ stored: HTTPFreshness, now: Date) -> Bool {
        guard mayBeStale(stored), let window = CacheControl(stored.headers).seconds("stale-if-error") else {
            return false
        }
        return stored.age(at: now) - stored.lifetime < window
    }

    /// Returns whether a stored response may be used while it is stale: its `Cache-Control` has neither
    /// `must-revalidate` nor `no-cache` (RFC 9111 section 4.2.4).
    static func mayBeStale(_ stored: HTTPFreshness) -> Bool {
        let control = CacheControl(stored.headers)
        return !control.has("must-revalidate") && !control.has("no-cache")
    }

    /// Returns whether the header fields of a request demand a fresh response (RFC 9111 section 5.2.1).
    static func demandsFreshness(_ request: HTTPHeaders) -> Bool {
        let asked = CacheControl(request)
        return ["no-cache", "max-age", "min-fresh"].contains(where: asked.has) || isPragma(request)
    }

    /// Returns whether the request asks for `no-cache` with HTTP/1.0's `Pragma` field (RFC 9111 section 5.4).
    private static func isPragma(_ request: HTTPHeaders) -> Bool {
        !request.contains { $0.name.lowercased() == "cache-control" }
            && request["Pragma"]?.lowercased().contains("no-cache") == true
    }

    /// Returns for how many seconds after its expiration a response may be used.
    ///
    /// `max-stale` without a number sets no limit.
    private static func allowedStaleness(_ asked: CacheControl) -> Double {
        let seconds = asked.seconds("max-stale") ?? 0
        return asked.hasValue("max-stale") ? seconds : .infinity
    }

    /// Returns the request header fields that ask the server whether a stored response is still valid (RFC 9110 section
    /// 13.1).
    static func conditions(for stored: HTTPFreshness) -> HTTPHeaders {
        conditions(for: stored.headers)
    }

    /// Returns the request header fields that ask the server whether a response with these header fields is still
    /// valid.
    ///
    /// A validator that no header field can contain is left out, because the request would be rejected before it is
    /// sent. A response that an earlier version of the library stored may contain such a validator.
    package static func conditions(for headers: HTTPHeaders) -> HTTPHeaders {
        var conditions = HTTPHeaders()
        if let tag = headers.returnable("ETag") { conditions.add(.init(name: "If-None-Match", echo: tag)) }
        if let date = headers.returnable("Last-Modified") { conditions.add("If-Modified-Since", date) }
        return conditions
    }

    /// Returns whether a request may ask the server to revalidate a stored response.
    ///
    /// The request must be a GET or HEAD without a condition of its own, because a server rejects other methods whose
    /// condition fails (RFC 9110 section 13.2.2).
    static func mayConfirm(_ method: HTTPMethod, _ request: HTTPHeaders) -> Bool {
        guard method == .get || method == .head else { return false }
        return request["If-None-Match"] == nil && request["If-Modified-Since"] == nil
    }

    /// Returns whether a 304 response belongs to a stored response with these header fields (RFC 9111 section 4.3.4).
    ///
    /// If the 304 response has an entity tag that the stored response does not have, it belongs to other content. The
    /// stored response must not receive this tag, because the server would then revalidate the wrong content in the
    /// future. A 304 response without an entity tag is accepted.
    static func concerns(_ stored: HTTPHeaders, confirmation headers: HTTPHeaders) -> Bool {
        guard let tag = entityTag(in: headers) else { return true }
        return entityTag(in: stored) == tag
    }

    /// Returns the entity tag without the prefix `W/` of a weak tag, because tags are compared weakly (RFC 9110 section
    /// 8.8.3.2).
    private static func entityTag(in headers: HTTPHeaders) -> Substring? {
        headers.returnable("ETag").map { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0[...] }
    }

    /// Returns the header fields of a stored response after a 304 response (RFC 9111 section 3.2).
    ///
    /// Fields that describe the body are kept, because the stored body is kept. Fields about the age are removed unless
    /// the 304 response repeats them, because the age starts again with the 304 response (RFC 9110 section 6.6.1, RFC
    /// 9111 section 5.1). A new validator that no header field can contain does not replace a valid stored validator.
    static func confirmed(_ stored: HTTPHeaders, by headers: HTTPHeaders) -> HTTPHeaders {
        let kept: Set<String> = ["content-length", "content-encoding", "content-type", "content-range"]
        var result = stored
        for name in ["Date", "Age"] { result.remove(name) }
        let fresh = endToEnd(headers).filter { !kept.contains($0.name.lowercased()) && $0.isValid }
        for name in Set(fresh.map { $0.name.lowercased() }) { result.remove(name) }
        for field in fresh { result.add(field) }
        return result
    }

    /// Returns the head of a stored response with the current age in its `Age` field, as the caller receives it.
    static func handedOut(_ stored: HTTPFreshness, now: Date) -> HTTPResponse {
        var head = stored.head
        head.headers["Age"] = String(Int(min(stored.age(at: now), 2_147_483_648)))
        return head
    }

    /// Returns the header fields, except the fields that concern only one connection (RFC 9110 section 7.6.1).
    static func endToEnd(_ headers: HTTPHeaders) -> HTTPHeaders {
        let dropped = connectionFields.union(headers.elements(of: "Connection").map { $0.lowercased() })
        return HTTPHeaders(headers.filter { !dropped.contains($0.name.lowercased()) })
    }

    /// Returns whether a response invalidates the responses that are stored for the same URL (RFC 9111 section 4.4).
    static func invalidates(method: HTTPMethod, status: Int) -> Bool {
        !method.isSafe && (200..<400).contains(status)
    }

    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The status codes whose caching rules this cache implements.
    private static let understood: Set<Int> = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414,
        415, 416, 417, 421, 422, 426, 429, 500, 501, 502, 503, 504, 505,
    ]
}
