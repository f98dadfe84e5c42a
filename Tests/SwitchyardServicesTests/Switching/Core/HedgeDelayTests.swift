import SwitchyardServices
import Testing

/// The delay before a hedge of an endpoint whose latencies are known.
@Suite struct HedgeDelayTests {
    /// The delays in milliseconds after requests with these latencies in milliseconds: of a read, and of a write.
    private func delays(after latencies: [Double]) throws -> (read: Double, write: Double) {
        let driver = try CoreDriver()
        for latency in latencies { driver.request(.success(latency: .seconds(latency / 1_000))) }
        let attempt = try #require(driver.choose())
        let read = try #require(driver.core.hedgeDelay(for: attempt, remaining: 60.0))
        let write = try #require(driver.core.lateDelay(for: attempt, remaining: 60.0))
        return (read * 1_000, write * 1_000)
    }

    @Test func `a read of an endpoint with 64 known latencies is hedged after a latency that few reads exceed`() throws
    {
        let latencies = (0..<128).map { $0 % 16 == 0 ? 40.0 : 5 }

        #expect(abs(try delays(after: latencies).read - 40) < 0.4)
    }

    @Test func `a read of a quick endpoint is hedged after 10 ms at the earliest`() throws {
        #expect(abs(try delays(after: Array(repeating: 1, count: 64)).read - 10) < 0.01)
    }

    @Test func `a read is hedged after 100 ms while fewer than 64 latencies are known`() throws {
        #expect(abs(try delays(after: Array(repeating: 1, count: 63)).read - 100) < 0.01)
    }

    @Test func `a read of an endpoint with some very slow responses is hedged after 100 ms`() throws {
        let latencies = (0..<128).map { $0 % 20 == 0 ? 900.0 : 5 }

        #expect(abs(try delays(after: latencies).read - 100) < 0.01)
    }

    @Test func `a single slow read among 64 reads does not delay hedges`() throws {
        let latencies = (0..<64).map { $0 == 30 ? 900.0 : 5 }

        #expect(abs(try delays(after: latencies).read - 10) < 0.01)
    }

    @Test func `a hedge never starts before 1.3 times the 90th percentile of the latency`() throws {
        let latencies = Array(repeating: 60.0, count: 64)

        #expect(abs(try delays(after: latencies).read - 78) < 1)
    }

    @Test func `a write counts as slow after 100 ms even if the latencies of its endpoint are known`() throws {
        #expect(abs(try delays(after: Array(repeating: 1, count: 64)).write - 100) < 0.01)
    }
}
