import Testing

@testable import SwitchyardServices

@Suite struct WarmUpTests {
    /// The warm-ups within the given time, with one call per second.
    private func warmUps(_ driver: CoreDriver, seconds: Int) -> [(at: Double, server: Int)] {
        var taken: [(at: Double, server: Int)] = []
        for _ in 0..<seconds {
            driver.advance(1)
            if let attempt = driver.core.takeWarmUp(at: driver.now) {
                taken.append((driver.now.seconds, attempt.server))
            }
        }
        return taken
    }

    @Test func `the first fallback server gets a warm-up request after 5 to 25 s and then about every 5 min`() throws {
        let taken = warmUps(try CoreDriver(), seconds: 3600)

        #expect(taken.allSatisfy { $0.server == 1 })
        #expect((5...28).contains(try #require(taken.first).at))
        for (earlier, later) in zip(taken, taken.dropFirst()) {
            #expect((210...391).contains(later.at - earlier.at))
        }
    }

    @Test func `the clients of a fleet send their warm-up requests at different times`() throws {
        var firsts: Set<Double> = []
        for seed in 0..<100 {
            if let first = warmUps(try CoreDriver(seed: UInt64(seed)), seconds: 40).first { firsts.insert(first.at) }
        }

        #expect(firsts.count > 10)
    }

    @Test func `a warm-up request goes to the server that would be used next`() throws {
        let driver = try CoreDriver()
        _ = warmUps(driver, seconds: 30)
        for _ in 0..<3 { driver.failedOver(.refused) }

        let taken = warmUps(driver, seconds: 400)

        #expect(driver.core.current == "b")
        #expect(taken.map(\.server) == [2])
    }

    @Test func `an overloaded fallback server gets no warm-up request`() throws {
        let driver = try CoreDriver(["a", "b"])
        _ = warmUps(driver, seconds: 30)
        var late: [Int] = []
        for _ in 0..<500 {
            driver.advance(1)
            driver.overload("b", .http(503))
            if let attempt = driver.core.takeWarmUp(at: driver.now) { late.append(attempt.server) }
        }

        #expect(late.isEmpty)
    }

    @Test func `the outcome of a warm-up request does not change the health of a server`() throws {
        let driver = try CoreDriver()
        var attempt: Attempt?
        while attempt == nil {
            driver.advance(1)
            attempt = driver.core.takeWarmUp(at: driver.now)
        }
        let before = driver.core.snapshot(at: driver.now)

        let followed = driver.core.settleProbe(try #require(attempt), .refused, at: driver.now)

        #expect(followed.isEmpty)
        #expect(driver.core.snapshot(at: driver.now) == before)
    }

    @Test(arguments: [SwitchPolicy.stickyErrorRatio, .errorRatio(), .consecutiveFailures(5), .off])
    func `a policy without warm-up sends no warm-up requests`(policy: SwitchPolicy) throws {
        #expect(warmUps(try CoreDriver(policy: policy), seconds: 1000).isEmpty)
    }

    @Test func `a service with a single server sends no warm-up requests`() throws {
        #expect(warmUps(try CoreDriver(["a"]), seconds: 1000).isEmpty)
    }

    @Test func `a warm-up interval of zero is rejected as invalid`() {
        var policy = SwitchPolicy.recommended
        policy.warmUp = .zero

        #expect(throws: SwitchPolicy.Problem(key: "warmUp", expected: "a duration above 0")) { try policy.check() }
    }
}
