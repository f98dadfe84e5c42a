import SwitchyardServices
import Testing

/// A circuit breaker for each server.
@Suite struct BreakerPolicyTests {
    @Test func `the circuit breaker of one server opens and the breakers of other servers stay closed`() throws {
        let driver = try CoreDriver(policy: .consecutiveFailures(3))
        driver.requests(10, .ok)

        driver.requests(3, .failure(.http(500)))

        #expect(driver.state("a") == .ejected)
        #expect(driver.state("b") == .healthy)
        #expect(driver.choose()?.server == 1)
    }

    @Test func `a success between failures keeps the circuit breaker closed`() throws {
        let driver = try CoreDriver(policy: .consecutiveFailures(3))

        for _ in 0..<20 {
            driver.requests(2, .failure(.http(500)))
            driver.requests(1, .ok)
        }

        #expect(driver.state("a") == .healthy)
    }

    @Test func `a half-open circuit breaker permits few requests and closes after successes`() throws {
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

    @Test func `a half-open circuit breaker opens again after a failure while another server responds`() throws {
        let driver = try CoreDriver(policy: .consecutiveFailures(3))
        driver.requests(10, .ok)
        driver.requests(3, .failure(.http(500)))
        driver.startTrial("a")

        driver.failedOver(.http(500))

        #expect(driver.state("a") == .ejected)
    }
}
