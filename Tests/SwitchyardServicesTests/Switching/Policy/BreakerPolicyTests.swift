import SwitchyardServices
import Testing

/// Row K16: a circuit breaker per server.
@Suite struct BreakerPolicyTests {
    @Test func `K16: the breaker of one server opens and leaves the others closed`() throws {
        let driver = try CoreDriver(policy: .consecutiveFailures(3))
        driver.requests(10, .ok)

        driver.requests(3, .failure(.http(500)))

        #expect(driver.state("a") == .ejected)
        #expect(driver.state("b") == .healthy)
        #expect(driver.choose()?.server == 1)
    }

    @Test func `K16: a success between failures keeps the breaker closed`() throws {
        let driver = try CoreDriver(policy: .consecutiveFailures(3))

        for _ in 0..<20 {
            driver.requests(2, .failure(.http(500)))
            driver.requests(1, .ok)
        }

        #expect(driver.state("a") == .healthy)
    }

    @Test func `K16: half open it lets few requests through, and closes when they succeed`() throws {
        let driver = try CoreDriver(policy: .consecutiveFailures(3))
        driver.requests(10, .ok)
        driver.requests(3, .failure(.http(500)))

        driver.startTrial("a")
        let first = try #require(driver.choose())
        let second = try #require(driver.choose())

        #expect((first.server, second.server) == (0, 1))
        driver.settle(first, .ok)
        driver.settle(second, .ok)
        driver.recover("a")
        #expect(driver.state("a") == .healthy)
        #expect(driver.core.current == "a")
    }

    @Test func `K16: half open, a failure that another server withConfirmation opens it again`() throws {
        let driver = try CoreDriver(policy: .consecutiveFailures(3))
        driver.requests(10, .ok)
        driver.requests(3, .failure(.http(500)))
        driver.startTrial("a")

        driver.failedOver(.http(500))

        #expect(driver.state("a") == .ejected)
    }
}
