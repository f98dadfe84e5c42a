import Testing

@testable import SwitchyardServices

/// Writes that must not be repeated while a server may be silent.
@Suite struct SilentServerWriteTests {
    /// Creates a driver whose first server was silent to reads whose hedges succeeded at the second server.
    private func driver(afterHedges count: Int) throws -> CoreDriver {
        let driver = try CoreDriver()
        for _ in 0..<count {
            let silent = try #require(driver.choose())
            driver.advance(0.3)
            let hedge = driver.core.takeHedge(beside: silent, excluding: [0], at: driver.now)
            let success = SettledAttempt(try #require(hedge), .success(latency: .milliseconds(1)))
            driver.settle([SettledAttempt(silent, .unfinished), success])
        }
        return driver
    }

    @Test func `a write that avoids a silent server does not go to a server whose last attempt failed`() throws {
        let driver = try driver(afterHedges: 2)
        let failing = try #require(driver.failover(after: .reset, excluding: [0]))
        #expect(failing.server == 1)
        driver.settle([SettledAttempt(failing, .failure(.http(500)))])

        #expect(driver.choose(for: RequestTraits(mayBeRepeated: false))?.server == 2)
    }

    @Test func `a write that fails over avoids a fallback whose last read was overtaken by a hedge`()
        throws
    {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        let silent = try #require(driver.failover(after: .refused, excluding: [0]))
        driver.advance(0.3)
        let extra = driver.core.takeHedge(beside: silent, excluding: [0, 1], at: driver.now)
        let hedge = try #require(extra)
        driver.settle([
            SettledAttempt(first, .failure(.refused)), SettledAttempt(silent, .unfinished),
            SettledAttempt(hedge, .success(latency: .milliseconds(1))),
        ])

        let write = RequestTraits(mayBeRepeated: false)
        let fallback = driver.core.takeFailover(after: .refused, excluding: [0], for: write, at: driver.now)

        #expect([silent.server, hedge.server, fallback?.server] == [1, 2, 2])
    }

    @Test func `suspicion probes do not go to a server that the request has tried if another server is left`() throws {
        let driver = try CoreDriver()
        _ = try #require(driver.choose())
        let silent = try #require(driver.failover(after: .refused, excluding: [0]))

        let probe = driver.core.takeSuspicion(of: silent, besides: [0, 1], at: driver.now)

        #expect(probe?.suspect.server == 1)
        #expect(probe?.peer.server == 2)
    }

    @Test func `suspicion probes do not go to a server whose last attempt failed if another server is left`() throws {
        let driver = try CoreDriver()
        driver.requests(10, .success(latency: .milliseconds(1)))
        driver.request(.failure(.reset))
        let silent = try #require(driver.choose(excluding: [0]))

        let probe = driver.core.takeSuspicion(of: silent, at: driver.now)

        #expect(probe?.peer.server == 2)
    }

    @Test func `suspicion probes go to a server that the request has tried if no other server is left`() throws {
        let driver = try CoreDriver(["a", "b"])
        let silent = try #require(driver.choose(excluding: [0]))

        let probe = driver.core.takeSuspicion(of: silent, besides: [0, 1], at: driver.now)

        #expect(probe?.peer.server == 0)
    }

    @Test func `a write does not avoid its server because a hedge overtook one read`() throws {
        let driver = try driver(afterHedges: 1)

        #expect(driver.choose(for: RequestTraits(mayBeRepeated: false))?.server == 0)
    }

    @Test func `a write does not avoid its server because hedges overtook two reads at the same time`() throws {
        let driver = try CoreDriver()
        let silent = try [#require(driver.choose()), #require(driver.choose())]
        driver.advance(0.3)
        for attempt in silent {
            let hedge = driver.core.takeHedge(beside: attempt, excluding: [0], at: driver.now)
            let success = SettledAttempt(try #require(hedge), .success(latency: .milliseconds(1)))
            driver.settle([SettledAttempt(attempt, .unfinished), success])
        }

        #expect(driver.choose(for: RequestTraits(mayBeRepeated: false))?.server == 0)
    }

    @Test func `a write that must not be repeated avoids a server whose last two reads were overtaken by hedges`()
        throws
    {
        let driver = try driver(afterHedges: 2)

        #expect(driver.choose(for: RequestTraits(mayBeRepeated: false))?.server == 1)
        #expect(driver.choose()?.server == 0)
    }

    @Test(arguments: [true, false])
    func `after a response or ten seconds, writes go again to a server whose reads hedges overtook`(responds: Bool)
        throws
    {
        let driver = try driver(afterHedges: 2)

        if responds { driver.request(.success(latency: .milliseconds(1))) } else { driver.advance(10) }

        #expect(driver.choose(for: RequestTraits(mayBeRepeated: false))?.server == 0)
    }
}
