import Testing

@testable import SwitchyardServices

@Suite struct SettlingTests {
    @Test func `a failure that another server confirms weighs four times as much`() throws {
        let withConfirmation = try CoreDriver()
        let alone = try CoreDriver()

        withConfirmation.failedOver(.refused)
        alone.request(.refused)

        let full = try #require(withConfirmation.statistics("a")).score
        #expect(abs(full - 4.494) < 0.001)
        #expect(abs((alone.statistics("a")?.score ?? 0) - full / 4) < 0.001)
    }

    @Test(arguments: [
        (FailureKind.refused, 4.49), (.dnsFailure, 4.49), (.tlsFailure, 4.49), (.timeout, 3.0), (.truncated, 3.0),
        (.http(500), 3.0), (.http(503), 1.5), (.http(429), 1.5),
    ])
    func `failures that show a dead server weigh more than failures that show a busy server`(
        kind: FailureKind,
        score: Double
    )
        throws
    {
        let driver = try CoreDriver(policy: Self.plain)

        driver.failedOver(kind)

        #expect(abs((driver.statistics("a")?.score ?? 0) - score) < 0.01)
    }

    @Test func `no server is ejected from rotation while no server responds`() throws {
        let driver = try CoreDriver()
        driver.requests(50, .ok)
        driver.advance(10)

        for _ in 0..<200 {
            driver.advance(1)
            var tried = ServerSet()
            var request: [SettledAttempt] = []
            var attempt = driver.choose()
            while let one = attempt {
                tried.insert(one.server)
                request.append(SettledAttempt(one, .timedOut))
                attempt = driver.failover(after: .timeout, excluding: tried)
            }
            driver.settle(request)
        }

        #expect(driver.events.isEmpty)
        #expect(driver.core.current == "a")
    }

    @Test func `the same error status from every server does not count against a server`() throws {
        let driver = try CoreDriver()

        for _ in 0..<200 {
            driver.requests(1, .ok)
            guard let first = driver.choose(), let second = driver.choose(excluding: [first.server]) else { break }
            driver.settle([
                SettledAttempt(first, .failure(.http(500))), SettledAttempt(second, .failure(.http(500))),
            ])
        }

        #expect(driver.events.isEmpty)
    }

    @Test func `an error status of another server confirms a failure`() throws {
        let driver = try CoreDriver(policy: Self.plain)
        let first = try #require(driver.choose())
        let second = try #require(driver.choose(excluding: [0]))

        driver.settle([SettledAttempt(first, .failure(.reset)), SettledAttempt(second, .failure(.http(500)))])

        #expect(abs((driver.statistics("a")?.score ?? 0) - 3.0) < 0.01)
        #expect(abs((driver.statistics("b")?.score ?? 0) - 0.75) < 0.01)
    }

    /// A policy that counts failures regardless of other servers with the same endpoint.
    private static var plain: SwitchPolicy {
        var policy = SwitchPolicy.recommended
        policy.detection.perEndpoint = false
        return policy
    }

    @Test func `an attempt that a hedge overtakes counts as slow but not as a failure`() throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        driver.advance(0.26)
        let hedge = try #require(driver.hedge(excluding: [0]))

        driver.settle([SettledAttempt(first, .unfinished), SettledAttempt(hedge, .ok)])

        #expect(abs(driver.core.evidence.servers[0].lateness.value - 1.32) < 0.01)
        #expect(driver.statistics("a")?.score == 0)
        #expect(driver.statistics("a")?.share == 1)
        #expect(driver.statistics("a")?.lastFailure == .overtaken)
    }

    @Test func `a hedge that responds later than the first attempt does not count against its server`() throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        driver.advance(0.25)
        let hedge = try #require(driver.hedge(excluding: [0]))

        driver.settle([SettledAttempt(first, .ok), SettledAttempt(hedge, .unfinished)])

        #expect(driver.statistics("b") == HealthStatistics())
    }

    @Test func `the failover token of an attempt is returned when the attempt succeeds`() throws {
        let driver = try CoreDriver()

        for _ in 0..<100 { driver.failedOver(.http(500)) }

        #expect(driver.core.extras.failovers.tokens == 10)
    }

    @Test func `the failover token of an attempt is returned if the attempt neither succeeds nor fails`() throws {
        let driver = try CoreDriver()

        for _ in 0..<100 {
            let first = try #require(driver.choose())
            let second = try #require(driver.failover(after: nil, excluding: [first.server]))
            driver.settle([SettledAttempt(first, .neutral), SettledAttempt(second, .neutral)])
        }

        #expect(driver.core.extras.failovers.tokens == 10)
    }

    @Test func `the failover token of an attempt is not returned when the attempt is abandoned`() throws {
        let driver = try CoreDriver()

        for _ in 0..<10 {
            let first = try #require(driver.choose())
            let second = try #require(driver.failover(after: nil, excluding: [first.server]))
            driver.settle([SettledAttempt(first, .unfinished), SettledAttempt(second, .unfinished)])
        }

        #expect(driver.core.extras.failovers.tokens == 0)
        #expect(driver.statistics("a") == HealthStatistics())
    }

    @Test(arguments: [AttemptOutcome.neutral, .unfinished, .answered])
    func `an outcome that is neither a success nor a failure does not change the statistics of a server`(
        outcome: AttemptOutcome
    ) throws {
        let driver = try CoreDriver()
        driver.requests(20, .ok)
        let before = driver.statistics("a")

        driver.requests(200, outcome)

        #expect(driver.statistics("a") == before)
        #expect(driver.events.isEmpty)
    }

    @Test(
        arguments: [
            (200, AttemptOutcome.ok), (304, .ok), (404, .answered), (401, .answered), (408, .failure(.http(408))),
            (421, .failure(.http(421))), (425, .failure(.http(425))), (429, .answered),
            (500, .failure(.http(500))),
            (599, .failure(.http(599))),
        ])
    func `each HTTP status has one classification in the switching core`(status: Int, outcome: AttemptOutcome) {
        #expect(AttemptOutcome(status: status, latency: .milliseconds(10)) == outcome)
    }

    @Test func `a 429 response is a failure of the server if the service defines it as overload`() {
        let outcome = AttemptOutcome(status: 429, latency: .zero, tooManyRequests: .overload)

        #expect(outcome == .failure(.http(429)))
    }

    @Test func `if a server was ejected and recovered during an attempt, the outcome of the attempt changes nothing`()
        throws
    {
        let driver = try CoreDriver(["a", "b"])
        let late = (0..<50).compactMap { _ in driver.choose() }
        driver.failedOver(.refused)
        driver.failedOver(.refused)
        driver.recover("a")
        let before = driver.statistics("a")

        for attempt in late { driver.settle(attempt, .refused) }

        #expect(driver.statistics("a") == before)
        #expect(driver.state("a") == .healthy)
    }

    @Test func `more consecutive failures than the counter can hold still eject the server`() throws {
        let driver = try CoreDriver(["a"], policy: .consecutiveFailures(3))
        for _ in 0..<65_537 { driver.request(.failure(.http(500))) }
        #expect(driver.statistics("a")?.consecutiveFailures ?? 0 >= 65_535)

        try driver.replace([SwitchingCore.Member(id: "a"), SwitchingCore.Member(id: "b")])
        driver.request(.failure(.http(500)))

        #expect(driver.state("a") == .ejected)
    }

    @Test func `an ejection event contains the generation of the attempts that began before the ejection`() throws {
        let driver = try CoreDriver()
        let waiting = try #require(driver.choose())

        for _ in 0..<2 { driver.failedOver(.refused) }

        let ejection = driver.events.first?.kind
        #expect(ejection == .ejected("a", generation: waiting.generation, cause: .score))
    }

    @Test func `an overloaded server is not ejected while no other server can take its traffic`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.overload()

        for _ in 0..<20 {
            driver.advance(0.1)
            guard let first = driver.choose(excluding: [1]), let second = driver.choose(excluding: [0]) else { break }
            driver.settle([SettledAttempt(first, .failure(.http(503))), SettledAttempt(second, .ok)])
        }

        #expect(driver.state("a") == .healthy)
    }
}
