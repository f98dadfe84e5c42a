import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardAPI

@Suite(.timeLimit(.minutes(5)), .prompt) struct HTTPCacheCaseTests {
    @Test func `stored responses are reused, revalidated and removed as RFC 9111 requires`() throws {
        try CaseFile("http_cache_tests").run(reading: "* expected_served_from") { item in
            if item["shared_cache_only"]?.bool == true { return .notApplicable("for shared caches only") }
            if item["suite"]?.string == "partial" { return .notApplicable("partial bodies are not stored") }
            if let key = HTTPCacheCase.unreadKey(of: item) {
                return .notApplicable("the test does not read the key \(key)")
            }
            let outcome = HTTPCacheCase(item).mismatch()
            if outcome?.isSetUp == true {
                return .notApplicable("the case sets up a behavior that a private cache does not need")
            }
            switch (outcome, item["strength"]?.string) {
            case (nil, _): return .passed
            case (_, "check"): return .notApplicable("the case is informational and has no expected result")
            case (let mismatch?, "optimal") where mismatch.isMiss:
                return .difference("a cache may send a request instead of reusing a stored response")
            case (let mismatch?, _): return .failed(mismatch.text)
            }
        }
    }
}

/// A sequence of requests through the caching rules, with a store of heads and a scripted server.
struct HTTPCacheCase {
    struct Mismatch {
        var text: String
        /// Whether the server was asked although the store had a usable response.
        var isMiss = false
        /// Whether the mismatch occurred during the setup of the case.
        var isSetUp = false
    }

    /// The result of a request.
    private struct Result {
        var servedFrom: String
        /// The time at which the server made the response, if it is known.
        var madeAt: Date?
        var status: Int?
        var headers = HTTPHeaders()
        var seen = HTTPHeaders()
    }

    private let item: CaseFile.Case
    private var stored: [String: [HTTPFreshness]] = [:]
    private var now = Date(timeIntervalSince1970: 1_700_000_000)

    init(_ item: CaseFile.Case) {
        self.item = item
    }

    /// The keys that a step may have: keys that are checked and keys that follow from other keys.
    private static let keys: [String: Set<String>] = [
        "": ["request", "origin", "expected", "advance_seconds"],
        "request": [
            "method", "headers", "body", "path_suffix", "fetch_cache_mode", "date_offsets_relative_to",
        ],
        "origin": [
            "status", "headers", "body", "disconnect", "note", "only_if", "locations_are_relative_to",
            "rfc850_format_for",
        ],
        "expected": [
            "served_from", "status", "setup", "setup_checks", "body", "body_same_as", "response_has_headers",
            "response_lacks_headers", "origin_saw_headers", "origin_saw_method",
        ],
    ]

    /// A key of a step that the runner does not know.
    static func unreadKey(of item: CaseFile.Case) -> String? {
        for step in item["steps"]?.array ?? [] {
            for (part, known) in keys {
                let object = part.isEmpty ? step : step[part] ?? .null
                if let key = object.object?.keys.first(where: { !known.contains($0) }) { return key }
            }
        }
        return nil
    }

    /// The first expectation that is not met.
    func mismatch() -> Mismatch? {
        var copy = self
        for (index, step) in (item["steps"]?.array ?? []).enumerated() {
            let result = copy.perform(step)
            // The cache mode of a browser's fetch becomes a header field.
            let isFetch = step.value(at: "request.fetch_cache_mode") != nil
            if let mismatch = Self.compare(result, step["expected"] ?? nil, isFetch) {
                return Mismatch(
                    text: "step \(index + 1): \(mismatch.text)",
                    isMiss: mismatch.isMiss,
                    isSetUp: step.value(at: "expected.setup")?.bool == true
                )
            }
            copy.now += step["advance_seconds"]?.double ?? 0
        }
        return nil
    }

    private mutating func perform(_ step: JSONValue) -> Result {
        let method = step.value(at: "request.method")?.string.flatMap { HTTPMethod($0) } ?? .get
        let key = step.value(at: "request.path_suffix")?.string ?? ""
        let request = fields(step.value(at: "request.headers"))
        let isBypassed = step.value(at: "request.fetch_cache_mode")?.string == "reload"
        var sent = request
        var candidate: HTTPFreshness?
        var standIn: HTTPFreshness?
        if method == .get, !isBypassed, let match = stored[key]?.last(where: { $0.matches(request) }) {
            standIn = match
            switch HTTPCacheRules.reuse(match, for: request, now: now) {
            case .fresh, .freshEnough:
                return Result(
                    servedFrom: "cache",
                    madeAt: match.received,
                    status: match.head.status,
                    headers: HTTPCacheRules.handedOut(match, now: now).headers
                )
            case .validate(let conditions):
                candidate = match
                for field in conditions { sent.add(field.name, field.value) }
            case .none: break
            }
        }
        return answer(step["origin"] ?? nil, method, key, request, sent, candidate, standIn)
    }

    private mutating func answer(
        _ origin: JSONValue,
        _ method: HTTPMethod,
        _ key: String,
        _ request: HTTPHeaders,
        _ sent: HTTPHeaders,
        _ candidate: HTTPFreshness?,
        _ standIn: HTTPFreshness?
    ) -> Result {
        guard origin["disconnect"]?.bool != true else {
            guard let standIn, HTTPCacheRules.mayStandIn(standIn, now: now) else {
                return Result(servedFrom: "nothing", status: nil)
            }
            return Result(servedFrom: "cache", status: standIn.head.status, headers: standIn.headers)
        }
        let headers = fields(origin["headers"])
        let status = origin["status"]?.int ?? 200
        if status == 304, var confirmed = candidate,
            HTTPCacheRules.concerns(confirmed.headers, confirmation: headers)
        {
            confirmed.headers = HTTPCacheRules.confirmed(confirmed.headers, by: headers)
            confirmed.requested = now
            confirmed.received = now
            stored[key]?.removeAll { $0.matches(request) }
            stored[key, default: []].append(confirmed)
            let kind = sent["If-None-Match"] == nil ? "lm" : "etag"
            return Result(
                servedFrom: "origin_validated_304_\(kind)",
                status: confirmed.head.status,
                headers: confirmed.headers,
                seen: sent
            )
        }
        if HTTPCacheRules.invalidates(method: method, status: status) { stored[key] = nil }
        if HTTPCacheRules.isStorable(method: method, request: request, status: status, headers) {
            stored[key]?.removeAll { $0.matches(request) }
            stored[key, default: []].append(
                HTTPFreshness(status: status, headers: headers, request: request, requested: now, received: now)
            )
        }
        return Result(servedFrom: "origin", madeAt: now, status: status, headers: headers, seen: sent)
    }

    private func fields(_ list: JSONValue?) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in list?.array ?? [] {
            let value = field[1]?["$http_date_offset_seconds"]?.double.map { Self.text(now + $0) }
            headers.add(field[0]?.string ?? "", value ?? field[1]?.string ?? "")
        }
        return headers
    }

    private static func compare(
        _ result: Result,
        _ expected: JSONValue,
        _ isFetch: Bool
    ) -> Mismatch? {
        if let from = expected["served_from"]?.string, from != result.servedFrom {
            return Mismatch(
                text: "from \(result.servedFrom) instead of \(from)",
                isMiss: from != "origin" && result.servedFrom == "origin"
            )
        }
        if let status = expected["status"]?.int, status != result.status {
            return Mismatch(text: "status \(String(describing: result.status)) instead of \(status)")
        }
        for field in expected["response_has_headers"]?.array ?? [] {
            if let text = lacks(field, in: result.headers, madeAt: result.madeAt) { return Mismatch(text: text) }
        }
        for field in expected["response_lacks_headers"]?.array ?? [] {
            let name = field[0]?.string ?? field.string ?? ""
            if name != "server-request-count", result.headers[name] != nil { return Mismatch(text: "has \(name)") }
        }
        for field in expected["origin_saw_headers"]?.array ?? [] {
            if isFetch, (field[0]?.string ?? field.string)?.lowercased() == "cache-control" { continue }
            if let text = lacks(field, in: result.seen, madeAt: nil) { return Mismatch(text: "server: \(text)") }
        }
        return nil
    }

    private static func lacks(_ field: JSONValue, in headers: HTTPHeaders, madeAt: Date?) -> String? {
        let name = field[0]?.string ?? field.string ?? ""
        // The suite's own server adds this field, which has no meaning here.
        guard name != "client-request-count" else { return nil }
        guard let value = headers[name] else { return "no \(name)" }
        if field[1]?.string == ">" {
            return (Double(value) ?? 0) > (field[2]?.double ?? 0) ? nil : "\(name) is \(value)"
        }
        // A date relative to the server's clock at the time of the response.
        let offset = field[1]?["$http_date_offset_seconds"]?.double
        let date = madeAt.flatMap { made in offset.map { text(made + $0) } }
        guard let expected = date ?? field[1]?.string else { return nil }
        return value == expected ? nil : "\(name) is \(value) instead of \(expected)"
    }

    private static func text(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
