import Testing

@testable import SwitchyardServices

/// The order of routes and failover in OkHttp, and the intervals of resilience4j.
@Suite struct RouteCaseTests {
    @Test func `the switching core handles the routes and failovers of OkHttp`() throws {
        let keys: CaseKeys = """
            addresses failed_before fastFallback proxy_selector dns dns_of_proxy servers.* up retryOnConnectionFailure
            expected expected_order expected_answered_by expected_connect_attempts expected_connect_failures
            expected_request_counts.* expected_failed_routes
            """
        try CaseFile("okhttp_routes_failover").run(reading: keys) { item in
            if item.keys.contains(where: { $0.lowercased().contains("proxy") || $0.lowercased().contains("proxies") }) {
                return .notApplicable("The transport handles proxies and their names.")
            }
            if item["expected_order"].exists { return try Self.order(item) }
            if item["expected"].string?.contains("time") == true {
                return .notApplicable("The client handles the deadline of the whole request.")
            }
            if item["dns"].exists, item["servers"].exists || item["up"].exists { return try Self.failover(item) }
            return .notApplicable("The transport handles the names of routes and the selection of a socket.")
        }
    }

    private static func order(_ item: CaseValue) throws -> CaseOutcome {
        let ids = item["addresses"].array.compactMap(\.string)
        let driver = try CoreDriver(ids)
        for id in item["failed_before"].array.compactMap(\.string) where ids.count > 1 {
            driver.core.eject(try #require(ids.firstIndex(of: id)), .score, at: 0)
        }
        var tried = ServerSet()
        var order: [String] = []
        while let attempt = driver.choose(excluding: tried) {
            tried.insert(attempt.server)
            order.append(ids[attempt.server])
        }
        return CaseOutcome.compare(order, item["expected_order"].array.compactMap(\.string)).or(
            "The service defines the order of servers, and the transport handles the address families of a host.",
            if: item["fastFallback"].bool == true
        )
    }

    private static func failover(_ item: CaseValue) throws -> CaseOutcome {
        let ids = item["dns"].array.compactMap(\.string)
        let answers = ids.compactMap { item["servers"][$0].array.first?.string }
        guard answers.allSatisfy({ $0 == "REFUSED_STREAM" || $0.hasPrefix("200") }) else {
            return .notApplicable("The transport handles broken connections.")
        }
        var policy = SwitchPolicy.recommended
        policy.failsOver = item["retryOnConnectionFailure"].bool ?? true
        let driver = try CoreDriver(ids, policy: policy)
        var tried = ServerSet()
        var request: [SettledAttempt] = []
        var next = driver.choose()
        while let attempt = next {
            tried.insert(attempt.server)
            let isUp = isUp(ids[attempt.server], item)
            request.append(SettledAttempt(attempt, isUp ? .ok : .refused))
            next = isUp ? nil : driver.failover(after: .refused, excluding: tried)
        }
        driver.settle(request)
        return check(item, request, driver).or(
            "A failed request goes to the next server immediately and never to the same server again.",
            if: ids.contains { answersLater($0, item) }
        ).or(
            "Servers are used in the service's order, and the transport handles the address families of a host.",
            if: item["fastFallback"].bool == true && ids.first?.hasPrefix("v6") != true && request.last?.outcome == .ok
        )
    }

    /// Whether a server responds when it is asked again.
    private static func answersLater(_ id: String, _ item: CaseValue) -> Bool {
        let answers = item["servers"][id].array.compactMap(\.string)
        return answers.first == "REFUSED_STREAM" && answers.dropFirst().contains { $0.hasPrefix("200") }
    }

    private static func isUp(_ id: String, _ item: CaseValue) -> Bool {
        if item["up"].exists { return item["up"].array.contains { $0.string == id } }
        return item["servers"][id].array.first?.string != "REFUSED_STREAM"
    }

    private static func check(_ item: CaseValue, _ request: [SettledAttempt], _ driver: CoreDriver) -> CaseOutcome {
        let ids = item["dns"].array.compactMap(\.string)
        let answeredBy = request.last { $0.outcome == .ok }.map { ids[$0.attempt.server] }
        let failures = request.count { $0.outcome == .refused }
        let isFailure = item["expected"].string.map { $0.hasPrefix("failure") }
        let answer = answeredBy.flatMap { item["servers"][$0].array.first?.string }
        var outcomes = [
            CaseOutcome.compare(answer, isFailure == false ? item["expected"].string : nil),
            .compare(answeredBy == nil, isFailure),
            .compare(answeredBy, item["expected_answered_by"].string),
            .compare(request.count, item["expected_connect_attempts"].int),
            .compare(failures, item["expected_connect_failures"].int),
        ]
        var isAskedTwice = false
        for (position, server) in ids.enumerated() {
            let count = request.count { $0.attempt.server == position }
            let expected = item["expected_request_counts"][server].int ?? count
            if expected > 1, count == 1 { isAskedTwice = true } else { outcomes.append(.compare(count, expected)) }
        }
        outcomes.append(failedRoutes(item, isUnanswered: answeredBy == nil, driver))
        if isAskedTwice {
            outcomes.append(
                .differs("A failed request goes to the next server immediately and never to the same server again.")
            )
        }
        return .all(outcomes)
    }

    @Test(arguments: [("v6", true), ("v4", false)])
    func `an expected failed route in an OkHttp case is an intended difference only if that route failed`(
        route: String,
        isNoted: Bool
    ) throws {
        let item = CaseValue(["dns": ["v6", "v4"], "up": ["v4"], "expected_failed_routes": [route]])

        let outcome = try Self.failover(item)

        if isNoted {
            #expect(
                outcome
                    == .differs(
                        "One failure is recorded but does not eject a server. An ejection requires two or three failures."
                    )
            )
        } else {
            #expect(outcome == .failed(#"got [], expected ["v4"]"#))
        }
    }

    /// Compares the servers that a request has found failing.
    private static func failedRoutes(_ item: CaseValue, isUnanswered: Bool, _ driver: CoreDriver) -> CaseOutcome {
        guard item["expected_failed_routes"].exists else { return .passed }
        let expected = item["expected_failed_routes"].array.compactMap(\.string)
        let failing = driver.core.serverIDs.filter { driver.statistics($0)?.failures ?? 0 > 0 }
        let isNoted = expected.allSatisfy(failing.contains)
        let outOfUse = driver.core.serverIDs.filter { driver.state($0) == .ejected }
        return CaseOutcome.compare(outOfUse.sorted(), expected.sorted()).or(
            "One failure is recorded but does not eject a server. An ejection requires two or three failures.",
            if: isNoted && outOfUse.isEmpty
        ).or(
            "If no server responds, the cause may be the network, so no failure is recorded.",
            if: isUnanswered && failing.isEmpty
        )
    }

    @Test func `probe intervals match the intervals of resilience4j`() throws {
        let keys: CaseKeys = """
            function.kind function.intervalMs function.maxIntervalMs function.factor function.multiplier
            attempt attempts expected_error expected_strictly_increasing
            """
        try CaseFile("resilience4j_intervals").run(reading: keys) { item in
            let function = item["function"]
            if item["attempt"].exists {
                return .notApplicable("Ejections are only counted internally, and callers cannot request one.")
            }
            if item["attempts"].exists, function["kind"].string?.hasPrefix("exponential") != true {
                return .notApplicable("A wait always doubles because there is no other kind of growth.")
            }
            var recovery = RecoveryRules()
            if let milliseconds = function["intervalMs"].int { recovery.firstProbe = .milliseconds(milliseconds) }
            if let milliseconds = function["maxIntervalMs"].int { recovery.longestProbe = .milliseconds(milliseconds) }
            recovery.jitter = function["factor"].double ?? 0
            if item["expected_strictly_increasing"].bool == true { return try Self.growth(recovery) }
            let isRefused = (try? recovery.check()) == nil
            return CaseOutcome.compare(isRefused, item["expected_error"].bool ?? false)
                .or(
                    "A wait of zero is valid and ends immediately.",
                    if: [function["intervalMs"].int, function["maxIntervalMs"].int].contains(0)
                )
                .or("A wait always doubles because there is no factor.", if: function["multiplier"].exists)
        }
    }

    private static func growth(_ recovery: RecoveryRules) throws -> CaseOutcome {
        var policy = SwitchPolicy.recommended
        policy.recovery = recovery
        let driver = try CoreDriver(policy: policy)
        var waits: [Duration] = []
        for _ in 0..<4 {
            driver.core.eject(0, .score, at: 0)
            waits.append(try #require(driver.core.snapshot(at: driver.now).first?.nextProbe))
        }
        return zip(waits, waits.dropFirst()).allSatisfy(<) ? .passed : .failed("\(waits)")
    }
}
