import Foundation
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// The cases of RFC 9111 through a manager with its cache.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HTTPCacheFlowCaseTests {
    @Test(arguments: [false, true])
    func `a manager reuses, revalidates and removes stored responses as RFC 9111 requires`(isAnew: Bool) async throws {
        let keys = "* expected_served_from"
        try await CaseFile("http_cache_tests").run(reading: keys) { (item: CaseFile.Case) async throws -> Verdict in
            if item["shared_cache_only"]?.bool == true { return .notApplicable("for shared caches only") }
            if item["suite"]?.string == "partial" { return .notApplicable("partial bodies are not stored") }
            if let key = HTTPCacheCase.unreadKey(of: item) {
                return .notApplicable("the test does not read the key \(key)")
            }
            let walk = try Walk(isAnew: isAnew)
            for (index, step) in (item["steps"]?.array ?? []).enumerated() {
                guard let text = try await walk.mismatch(of: step) else { continue }
                if step.value(at: "expected.setup")?.bool == true {
                    return .notApplicable("the case sets up a behavior that a private cache does not need")
                }
                if item["strength"]?.string == "check" {
                    return .notApplicable("the case is informational and has no expected result")
                }
                if item["strength"]?.string == "optimal", text.hasPrefix("from network") {
                    return .difference("a cache may send a request instead of reusing a stored response")
                }
                if text == "no Set-Cookie" {
                    return .difference("cookies are stored by the cookie storage and not in a cache")
                }
                return .failed("step \(index + 1): \(text)")
            }
            return .passed
        }
    }

    /// A cache and its server over the steps of a case.
    private final class Walk {
        private let clock = ManualClock()
        private let origin = Locked<(answer: JSONValue, date: Date)>((.null, .distantPast))
        private let transport: StubTransport
        private var topics: TopicAPI
        private let folder = TemporaryFolder()
        /// Whether each step runs in a new process.
        private let isAnew: Bool
        private var disk: DiskCache?
        private var now = Date(timeIntervalSince1970: 1_700_000_000)
        private var bodies: [String] = []

        init(isAnew: Bool) throws {
            self.isAnew = isAnew
            let origin = origin
            let number = Locked(0)
            transport = StubTransport { request in
                let (answer, date) = origin.withLock { $0 }
                let count = number.withLock { number in
                    number += 1
                    return number
                }
                guard answer["disconnect"]?.bool != true else { return .failure(.connectionReset) }
                let status = answer["status"]?.int ?? 200
                let body = status == 304 ? "" : answer["body"]?.string ?? "body \(count)"
                return .status(status, headers: Walk.fields(answer["headers"], at: date), body: Data(body.utf8))
            }
            topics = TopicAPI(client: try NetworkClient.stubbed(transport, time: clock))
            try begin()
        }

        /// Starts a new client and, for a new process, a new cache on the same folder.
        private func begin() throws {
            let client = try NetworkClient.stubbed(transport, time: clock)
            disk = isAnew ? try DiskCache(at: folder.url) : nil
            client.responseCache = ResponseCache(disk: disk, time: clock) { [clock] in
                Date(timeIntervalSince1970: 1_700_000_000) + MonotonicTime.zero.duration(to: clock.now).inSeconds
            }
            topics = TopicAPI(client: client)
        }

        func mismatch(of step: JSONValue) async throws -> String? {
            origin.withLock { [now] in $0 = (step["origin"] ?? .null, now) }
            let before = transport.requestCount
            let result = await Result { try await topics.response(for: configuration(step), with: .data) }
            // A stale response may be refreshed in the background.
            await until { topics.client.flights.count == 0 }
            await disk?.flush()
            if isAnew { try begin() }
            defer {
                let seconds = step["advance_seconds"]?.double ?? 0
                now += seconds
                clock.advance(by: .seconds(seconds))
            }
            let sent = transport.requests.dropFirst(before).first
            guard case .success(let answer) = result else {
                return step.value(at: "expected.served_from")?.string == nil ? nil : "from \(result)"
            }
            let isFetch = step.value(at: "request.fetch_cache_mode") != nil
            return compare(answer, sent, step["expected"] ?? .null, isFetch: isFetch)
        }

        private func compare(
            _ answer: APIResponse<Data>,
            _ sent: HTTPRequest?,
            _ expected: JSONValue,
            isFetch: Bool
        ) -> String? {
            let from =
                switch answer.source {
                case .network: "network"
                case .cache, .staleCache: "cache"
                case .revalidated: sent?.headers["If-None-Match"] == nil ? "304_lm" : "304_etag"
                }
            let body = String(decoding: answer.value, as: UTF8.self)
            defer { bodies.append(body) }
            if let wanted = expected["served_from"]?.string {
                let isSame = wanted == "origin" ? from == "network" : wanted.hasSuffix(from)
                guard isSame else { return "from \(from) instead of \(wanted)" }
            }
            if let status = expected["status"]?.int, status != answer.status { return "status \(answer.status)" }
            let method = sent?.method.name ?? "nothing"
            if let wanted = expected["origin_saw_method"]?.string, wanted != method { return "server saw \(method)" }
            if expected["body_same_as"] != nil, !bodies.contains(body) { return "body \(body)" }
            if let text = expected["body"]?.string, text != body { return "body \(body) instead of \(text)" }
            for field in expected["response_has_headers"]?.array ?? [] {
                let name = field[0]?.string ?? field.string ?? ""
                if name == "client-request-count" { continue }
                guard let value = answer.headers[name] else { return "no \(name)" }
                if let text = field[1]?.string, text != ">", text != value { return "\(name) is \(value), not \(text)" }
            }
            for field in expected["response_lacks_headers"]?.array ?? [] {
                let name = field[0]?.string ?? field.string ?? ""
                if name != "server-request-count", answer.headers[name] != nil { return "has \(name)" }
            }
            for field in expected["origin_saw_headers"]?.array ?? [] {
                let name = field[0]?.string ?? field.string ?? ""
                // A browser's fetch adds this field in some of its modes.
                if isFetch, name.lowercased() == "cache-control" { continue }
                guard let value = sent?.headers[name] else { return "server saw no \(name)" }
                if let text = field[1]?.string, text != value { return "server saw \(name) \(value), not \(text)" }
            }
            return nil
        }

        private func configuration(_ step: JSONValue) -> APIConfiguration {
            let method = step.value(at: "request.method")?.string.flatMap { HTTPMethod($0) } ?? .get
            var configuration = APIConfiguration(
                path: "x" + (step.value(at: "request.path_suffix")?.string ?? ""),
                method: method
            )
            configuration.cacheLifetime = .seconds(1)
            configuration.cache.freshness = .http
            configuration.rules = .off
            configuration.headers = Self.fields(step.value(at: "request.headers"), at: now)
            if step.value(at: "request.fetch_cache_mode")?.string == "reload" { configuration.cache.reading = .never }
            if let body = step.value(at: "request.body")?.string, method != .get {
                configuration.body = .data(Data(body.utf8), contentType: nil)
            }
            return configuration
        }

        private static func fields(_ list: JSONValue?, at now: Date) -> HTTPHeaders {
            var headers = HTTPHeaders()
            for field in list?.array ?? [] {
                let offset = field[1]?["$http_date_offset_seconds"]?.double
                headers.add(
                    field[0]?.string ?? "",
                    offset.flatMap { HTTPDate.text(for: now + $0) } ?? field[1]?.string ?? ""
                )
            }
            return headers
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
