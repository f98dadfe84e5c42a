import Testing

@testable import SwitchyardServices

/// A failure on every server does not count against any server.
@Suite struct EndpointEvidenceTests {
    private static let odd = RequestTraits(endpoint: 7)
    private static let well = RequestTraits(endpoint: 8)

    /// Makes a request for an endpoint on as many servers as permitted; `fails` decides on which servers it fails.
    private func request(
        _ driver: CoreDriver,
        _ traits: RequestTraits,
        _ kind: FailureKind,
        on fails: (Int) -> Bool = { _ in true }
    ) -> Int {
        var (tried, settled) = (ServerSet(), [SettledAttempt]())
        var attempt = driver.choose(for: traits)
        while let one = attempt {
            tried.insert(one.server)
            let outcome = fails(one.server) ? AttemptOutcome.failure(kind) : .ok
            settled.append(SettledAttempt(one, outcome))
            guard outcome.failureKind != nil else { break }
            let isPaidFor = settled.contains { $0.attempt.isPaid }
            attempt = driver.core.takeFailover(
                after: kind,
                excluding: tried,
                for: traits,
                isPaidFor: isPaidFor,
                at: driver.now
            )
        }
        driver.settle(settled)
        return settled.count
    }

    @Test(arguments: [FailureKind.http(500), .http(503), .reset, .truncated, .protocolViolation, .timeout])
    func `an endpoint that fails on every server causes no switch, no ejection and few extra attempts`(
        kind: FailureKind
    ) throws {
        let driver = try CoreDriver()
        var attempts = 0

        for _ in 0..<500 {
            driver.advance(0.01)
            attempts += request(driver, Self.odd, kind)
            for _ in 0..<4 { #expect(request(driver, Self.well, kind, on: { _ in false }) == 1) }
        }

        #expect(driver.events.isEmpty)
        #expect(driver.core.snapshot(at: driver.now).allSatisfy { $0.statistics.share == 1 })
        #expect(attempts - 500 <= 14)
    }

    @Test(arguments: [FailureKind.http(500), .http(503), .reset, .truncated])
    func `an endpoint that fails on one server ejects that server from rotation after a few requests`(
        kind: FailureKind
    ) throws {
        let driver = try CoreDriver()
        driver.requests(50, .ok)

        var requests = 0
        while driver.state("a") == .healthy, requests < 100 {
            driver.advance(0.01)
            #expect(request(driver, Self.odd, kind, on: { $0 == 0 }) <= 2)
            requests += 1
        }

        #expect(driver.state("a") == .ejected)
        #expect(requests <= (kind == .http(503) ? 30 : 14))
    }

    @Test func `an endpoint that fails occasionally on every server causes at most four switches`() throws {
        var random = RandomSource(seed: 11)
        let driver = try CoreDriver()

        for _ in 0..<4000 {
            driver.advance(0.01)
            _ = request(driver, Self.odd, .http(500), on: { _ in random.unit() < 0.3 })
        }

        #expect(driver.switches.count <= 4)
    }

    @Test func `requests to an endpoint that failed everywhere fail over again after another server recovers`() throws {
        let driver = try CoreDriver()
        for _ in 0..<20 { _ = request(driver, Self.odd, .http(500)) }
        #expect(request(driver, Self.odd, .http(500)) == 1)

        driver.advance(10)
        #expect(request(driver, Self.odd, .http(500), on: { $0 == 0 }) == 2)

        #expect(request(driver, Self.odd, .http(500), on: { $0 == 0 }) == 2)
    }

    @Test func `if an endpoint that fails on every server fails in a new way, its request still fails over`() throws {
        let driver = try CoreDriver()
        for _ in 0..<20 { _ = request(driver, Self.odd, .http(500)) }

        #expect(request(driver, Self.odd, .reset, on: { $0 == 0 }) == 2)
        #expect(request(driver, Self.odd, .refused, on: { $0 == 0 }) == 2)
    }

    @Test func `several endpoints that fail on one server eject that server without a failover`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(40, .ok)

        for number in 0..<60 where driver.state("a") == .healthy {
            driver.advance(0.01)
            guard let attempt = driver.choose(for: RequestTraits(endpoint: UInt32(number % 3 + 1))) else { break }
            driver.settle(attempt, number % 3 == 2 ? .ok : .failure(.http(500)))
        }

        #expect(driver.state("a") == .ejected)
    }

    @Test func `a server with one failing endpoint among working endpoints is not ejected without a failover`()
        throws
    {
        let driver = try CoreDriver(["a", "b"])

        for number in 0..<400 {
            driver.advance(0.01)
            guard let attempt = driver.choose(for: number % 5 == 0 ? Self.odd : Self.well) else { break }
            driver.settle(attempt, number % 5 == 0 ? .failure(.http(500)) : .ok)
        }

        #expect(driver.events.isEmpty)
    }

    @Test func `a 503 halves a server's admission share if another server serves the same endpoint`() throws {
        let driver = try CoreDriver()
        #expect(request(driver, Self.odd, .http(503), on: { $0 == 0 }) == 2)

        #expect(driver.statistics("a")?.share == 0.5)
    }

    @Test func `further timeouts of one endpoint do not lower a server's admission share again`() throws {
        let driver = try CoreDriver(["a", "b"])
        #expect(request(driver, Self.odd, .timeout, on: { $0 == 0 }) == 2)
        let cut = try #require(driver.statistics("a")?.share)

        for _ in 0..<3 {
            driver.advance(0.1)
            let attempt = try #require(driver.choose(excluding: [1], for: Self.odd))
            driver.settle(attempt, .failure(.timeout))
        }

        #expect(cut == 0.25)
        #expect(try #require(driver.statistics("a")?.share) >= cut)
    }

    @Test(arguments: [(["a", "b"], 10.0), (["a", "b", "c"], 20.0)])
    func `if an endpoint fails everywhere, it fails over again only after a pause of 10 s for each other server`(
        servers: [Server.ID],
        pause: Double
    ) throws {
        let driver = try CoreDriver(servers)
        for _ in 0..<400 {
            driver.advance(1)
            _ = request(driver, Self.odd, .http(500))
            // These successes earn tokens.
            driver.requests(10, .ok)
        }
        while request(driver, Self.odd, .http(500)) == 1 { driver.advance(0.1) }

        driver.advance(pause - 0.1)
        #expect(request(driver, Self.odd, .http(500)) == 1)
        driver.advance(0.2)
        #expect(request(driver, Self.odd, .http(500)) == servers.count)
    }

    @Test func `a full endpoint table forgets the oldest endpoint`() {
        var table = EndpointTable()
        for endpoint in 0..<UInt32(EndpointTable.capacity) {
            for _ in 0..<8 { table.recordResponse(endpoint, from: 0, latency: 1, isLate: false, at: Double(endpoint)) }
        }
        table.recordResponse(0, from: 0, latency: 1, isLate: false, at: 100)

        table.recordFailure(1_000, on: 0, at: 101)

        #expect(table.latency(of: 0).bulk != nil)
        #expect(table.latency(of: 1).bulk == nil)
        #expect(table.latency(of: 2).bulk != nil)
    }

    @Test func `at the start of a server's recovery trial, requests that must not be repeated avoid the server`() throws
    {
        let driver = try CoreDriver(["a", "b"])
        driver.eject("a")
        driver.startTrial("a")
        let write = RequestTraits(mayBeRepeated: false)
        let read = try #require(driver.choose())
        driver.settle(read, .ok)
        #expect(read.server == 0)

        #expect(driver.choose(for: write)?.server == 1)
        driver.advance(6)
        #expect(driver.choose(for: write)?.server == 0)
    }
}
