import Foundation
import SwitchyardClient
package import SwitchyardHTTP

/// The decisions of a private cache of HTTP (RFC 9111), each from its inputs alone: no clock, no store, no network.
package enum HTTPCacheRules {
    /// What a stored answer is good for.
    enum Reuse: Sendable, Equatable {
        /// It is the answer.
        case fresh
        /// It is the answer, and a new one is to be fetched for the next request (RFC 5861).
        case freshEnough
        /// It may be the answer once the server has confirmed it with these fields.
        case validate(HTTPHeaders)
        /// It is of no use.
        case none
    }

    /// Whether an answer may be stored (RFC 9111 section 3).
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

    /// Whether a lifetime may be guessed where none is said (RFC 9110 section 15.1).
    static func mayGuessLifetime(status: Int, _ headers: HTTPHeaders) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status) || CacheControl(headers).has("public")
    }

    /// What a stored answer is good for, now and for a request with these fields (RFC 9111 section 4).
    static func reuse(_ stored: HTTPStoredAnswer, for request: HTTPHeaders, now: Date) -> Reuse {
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
        // Who says how fresh an answer has to be does not wish a stale one (RFC 9111 section 5.2.1).
        guard !demandsFreshness(request), let window = control.seconds("stale-while-revalidate"), -left < window
        else { return otherwise }
        return .freshEnough
    }

    /// Whether a stored answer may stand in for a server that failed (RFC 5861 section 4, RFC 9111 section 4.2.4).
    ///
    /// Without a word of the answer's about failures it may not, however fresh: who asked had reason to ask the server.
    static func mayStandIn(_ stored: HTTPStoredAnswer, now: Date) -> Bool {
        guard mayBeStale(stored), let window = CacheControl(stored.headers).seconds("stale-if-error") else {
            return false
        }
        return stored.age(at: now) - stored.lifetime < window
    }

    /// Whether no field of a stored answer forbids to use it without the server (RFC 9111 section 4.2.4).
    static func mayBeStale(_ stored: HTTPStoredAnswer) -> Bool {
        let control = CacheControl(stored.headers)
        return !control.has("must-revalidate") && !control.has("no-cache")
    }

    /// Whether a request with these fields says itself how fresh its answer has to be (RFC 9111 section 5.2.1).
    static func demandsFreshness(_ request: HTTPHeaders) -> Bool {
        let asked = CacheControl(request)
        return ["no-cache", "max-age", "min-fresh"].contains(where: asked.has) || isPragma(request)
    }

    /// Whether `no-cache` is asked for in the words of HTTP/1.0 (RFC 9111 section 5.4).
    private static func isPragma(_ request: HTTPHeaders) -> Bool {
        !request.contains { $0.name.lowercased() == "cache-control" }
            && request["Pragma"]?.lowercased().contains("no-cache") == true
    }

    /// `max-stale` without a number allows any.
    private static func allowedStaleness(_ asked: CacheControl) -> Double {
        let seconds = asked.seconds("max-stale") ?? 0
        return asked.hasValue("max-stale") ? seconds : .infinity
    }

    /// The fields that ask the server whether a stored answer still holds (RFC 9110 section 13.1).
    static func conditions(for stored: HTTPStoredAnswer) -> HTTPHeaders {
        conditions(for: stored.headers)
    }

    /// The fields that ask the server whether an answer with these fields still holds.
    ///
    /// What no field can hold is left out, also of an answer that an earlier version has stored: it would have the request
    /// refused before it is sent.
    package static func conditions(for headers: HTTPHeaders) -> HTTPHeaders {
        var conditions = HTTPHeaders()
        if let tag = headers.returnable("ETag") { conditions.add(.init(name: "If-None-Match", echo: tag)) }
        if let date = headers.returnable("Last-Modified") { conditions.add("If-Modified-Since", date) }
        return conditions
    }

    /// Whether a server can be asked to confirm a stored answer: not by a request that has such a condition of its own,
    /// and by GET and HEAD only, since any other method whose condition is not met is refused (RFC 9110 section 13.2.2).
    static func mayConfirm(_ method: HTTPMethod, _ request: HTTPHeaders) -> Bool {
        guard method == .get || method == .head else { return false }
        return request["If-None-Match"] == nil && request["If-Modified-Since"] == nil
    }

    /// Whether a server's confirmation is about a stored answer with these fields (RFC 9111 section 4.3.4).
    ///
    /// One that names another entity tag, or the first one, is about another content: what is stored must not get that
    /// tag, or the server would confirm the wrong content ever after. One that names none says nothing against it.
    static func concerns(_ stored: HTTPHeaders, confirmation headers: HTTPHeaders) -> Bool {
        guard let tag = entityTag(in: headers) else { return true }
        return entityTag(in: stored) == tag
    }

    /// The entity tag without the mark of a weak one, which plays no part here (RFC 9110 section 8.8.3.2).
    private static func entityTag(in headers: HTTPHeaders) -> Substring? {
        headers.returnable("ETag").map { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0[...] }
    }

    /// The header fields of a stored answer after the server confirmed it (RFC 9111 section 3.2).
    ///
    /// What describes the body stays, since it is the stored one. What the server does not say anew of the answer's age
    /// goes, since from the confirmation on it counts afresh (RFC 9110 section 6.6.1, RFC 9111 section 5.1). A validator
    /// that could not be given back does not take the place of one that can.
    static func confirmed(_ stored: HTTPHeaders, by headers: HTTPHeaders) -> HTTPHeaders {
        let kept: Set<String> = ["content-length", "content-encoding", "content-type", "content-range"]
        var result = stored
        for name in ["Date", "Age"] { result.remove(name) }
        let fresh = endToEnd(headers).filter { !kept.contains($0.name.lowercased()) && $0.isValid }
        for name in Set(fresh.map { $0.name.lowercased() }) { result.remove(name) }
        for field in fresh { result.add(field) }
        return result
    }

    /// The header fields with which a stored answer is handed out: its own, and its age.
    static func handedOut(_ stored: HTTPStoredAnswer, now: Date) -> HTTPHeaders {
        var headers = stored.headers
        headers["Age"] = String(Int(min(stored.age(at: now), 2_147_483_648)))
        return headers
    }

    /// The fields that are not only about one connection (RFC 9110 section 7.6.1).
    static func endToEnd(_ headers: HTTPHeaders) -> HTTPHeaders {
        let dropped = connectionFields.union(headers.elements(of: "Connection").map { $0.lowercased() })
        return HTTPHeaders(headers.filter { !dropped.contains($0.name.lowercased()) })
    }

    /// Whether an answer says that what is stored under the same URL no longer holds (RFC 9111 section 4.4).
    static func invalidates(method: HTTPMethod, status: Int) -> Bool {
        !method.isSafe && (200..<400).contains(status)
    }

    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The statuses whose rules for caching this cache knows.
    private static let understood: Set<Int> = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414,
        415, 416, 417, 421, 422, 426, 429, 500, 501, 502, 503, 504, 505,
    ]
}
