import Testing

@testable import SwitchyardServices

/// OkHttp's order of routes and failover, and resilience4j's intervals.
@Suite struct RouteCaseTests {
    @Test func `OkHttp's routes and failovers`() throws {
        try CaseFile.run("okhttp_routes_failover", except: CaseNotes.okhttp) { value in
            if value["expected_order"].exists {
                try RouteCaseTests.checkOrder(value)
            } else {
                try RouteCaseTests.checkFailover(value)
            }
        }
    }

    private static func checkOrder(_ value: CaseValue) throws {
        let ids = value["addresses"].array.compactMap(\.string)
        let driver = try CoreDriver(ids)
        for id in value["failed_before"].array.compactMap(\.string) where ids.count > 1 {
            let position = try #require(ids.firstIndex(of: id))
            driver.core.eject(position, .score, at: 0)
        }
        var tried = ServerSet()
        var order: [String] = []
        while let attempt = driver.choose(excluding: tried, ) {
            tried.insert(attempt.server)
            order.append(ids[attempt.server])
        }
        #expect(order == value["expected_order"].array.compactMap(\.string), "\(value["id"].string ?? "")")
    }

    private static func checkFailover(_ value: CaseValue) throws {
        let id = Comment(rawValue: value["id"].string ?? "")
        let ids = value["dns"].array.compactMap(\.string)
        var policy = SwitchPolicy.recommended
        policy.failsOver = value["retryOnConnectionFailure"].bool ?? true
        let driver = try CoreDriver(ids, policy: policy)
        var tried = ServerSet()
        var counts: [String: Int] = [:]
        var next = driver.choose()
        var answeredBy: String?
        while let attempt = next {
            tried.insert(attempt.server)
            counts[ids[attempt.server], default: 0] += 1
            if isUp(ids[attempt.server], value) {
                answeredBy = ids[attempt.server]
                break
            }
            next = driver.failover(after: .refused, excluding: tried, )
        }
        check(value, counts, answeredBy, id)
    }

    private static func isUp(_ id: String, _ value: CaseValue) -> Bool {
        if value["up"].exists { return value["up"].array.contains { $0.string == id } }
        return value["servers"][id].array.first?.string != "REFUSED_STREAM"
    }

    private static func check(_ value: CaseValue, _ counts: [String: Int], _ answeredBy: String?, _ id: Comment) {
        let attempts = counts.values.reduce(0, +)
        if let expected = value["expected"].string { #expect((answeredBy == nil) == expected.hasPrefix("failure"), id) }
        if let server = value["expected_answered_by"].string { #expect(answeredBy == server, id) }
        if let count = value["expected_connect_attempts"].int { #expect(attempts == count, id) }
        if let count = value["expected_connect_failures"].int {
            #expect(attempts - (answeredBy == nil ? 0 : 1) == count, id)
        }
        for server in value["dns"].array.compactMap(\.string) {
            if let count = value["expected_request_counts"][server].int {
                #expect(counts[server, default: 0] == count, id)
            }
        }
    }

    @Test func `resilience4j's intervals`() throws {
        try CaseFile.run("resilience4j_intervals", except: CaseNotes.intervals) { value in
            let id = Comment(rawValue: value["id"].string ?? "")
            let function = value["function"]
            var recovery = RecoveryRules()
            if let milliseconds = function["intervalMs"].int { recovery.firstProbe = .milliseconds(milliseconds) }
            if let milliseconds = function["maxIntervalMs"].int { recovery.longestProbe = .milliseconds(milliseconds) }
            recovery.jitter = function["factor"].double ?? 0
            let isRefused = (try? recovery.check()) == nil
            #expect(isRefused == (value["expected_error"].bool ?? false), id)
            if value["expected_strictly_increasing"].bool == true { try RouteCaseTests.checkGrowth(recovery, id) }
        }
    }

    private static func checkGrowth(_ recovery: RecoveryRules, _ id: Comment) throws {
        var policy = SwitchPolicy.recommended
        policy.recovery = recovery
        let driver = try CoreDriver(policy: policy)
        var waits: [Duration] = []
        for _ in 0..<4 {
            driver.core.eject(0, .score, at: 0)
            waits.append(try #require(driver.core.snapshot(at: driver.now).first?.nextProbe))
        }
        #expect(zip(waits, waits.dropFirst()).allSatisfy(<), id)
    }
}
