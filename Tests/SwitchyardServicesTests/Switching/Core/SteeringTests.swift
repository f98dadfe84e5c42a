import SwitchyardServices
import Testing

@Suite struct SteeringTests {
    @Test func `a switch to a named server moves the traffic to it`() throws {
        let driver = try CoreDriver()

        try driver.switchTo("c")

        #expect(driver.core.current == "c")
        #expect(driver.choose()?.server == 2)
        #expect(driver.events.map(\.kind) == [.switched(from: "a", to: "c", cause: .requested)])
    }

    @Test func `the preferred server can be switched before the first request`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        try driver.switchTo("b")

        #expect(driver.core.current == "b")
    }

    @Test func `a switch to the next server advances through the list and skips ejected servers`() throws {
        let driver = try CoreDriver()

        driver.next()
        #expect(driver.core.current == "b")
        driver.eject("c")
        driver.next()

        #expect(driver.core.current == "a")
    }

    @Test(arguments: [SwitchPolicy.recommended, .stickyErrorRatio, .off])
    func `switching to an unknown server name is an error and changes nothing`(policy: SwitchPolicy) throws {
        let driver = try CoreDriver(policy: policy)

        #expect(throws: SwitchError.unknownServer("z", known: ["a", "b", "c"])) { try driver.switchTo("z") }
        #expect(throws: SwitchError.unknownServer("-1", known: ["a", "b", "c"])) {
            try driver.push(PushCommand(version: 1, mode: .force, server: "-1"))
        }

        #expect(driver.core.current == "a")
        #expect(driver.events.isEmpty)
        #expect(driver.core.version == 0)
    }

    @Test func `if several switches start from the same state, only the first takes effect`() throws {
        let driver = try CoreDriver()
        let version = driver.core.version

        for _ in 0..<100 { driver.next(from: version) }
        for _ in 0..<100 { try driver.switchTo("c", from: version) }

        #expect(driver.core.current == "b")
        #expect(driver.switches.count == 1)
    }

    @Test func `an ejection overrides a preferred server until the server recovers`() throws {
        let driver = try CoreDriver()
        try driver.switchTo("c")

        driver.eject("c")
        #expect(driver.core.current == "a")
        driver.recover("c")

        #expect(driver.core.current == "c")
    }

    @Test func `a switch to an ejected server makes it healthy`() throws {
        let driver = try CoreDriver()
        driver.eject("a")

        try driver.switchTo("a")

        #expect(driver.core.current == "a")
        #expect(driver.state("a") == .healthy)
    }

    @Test func `after a switch to a healthy server, its attempts in flight still count`() throws {
        let driver = try CoreDriver()
        let attempt = try #require(driver.choose())
        try driver.switchTo("a")

        driver.settle(attempt, .ok)

        #expect(driver.statistics("a")?.requests == 1)
    }

    @Test func `a switch to a named server overrides its Retry-After`() throws {
        let driver = try CoreDriver()
        try driver.switchTo("b")
        let first = try #require(driver.choose())
        let second = try #require(driver.failover(after: .http(503), excluding: [first.server]))
        driver.settle([
            SettledAttempt(first, .failure(.http(503), retryAfter: .seconds(60))),
            SettledAttempt(second, .success(latency: .milliseconds(5))),
        ])
        #expect(driver.choose()?.server != 1)

        try driver.switchTo("b")

        #expect(driver.choose()?.server == 1)
    }

    @Test func `a pushed preference for a server applies until its time to live has passed`() throws {
        let driver = try CoreDriver()

        try driver.push(PushCommand(version: 7, mode: .prefer, server: "b", timeToLive: .seconds(60)))
        #expect(driver.core.current == "b")
        driver.advance(60)
        driver.request(.ok)

        #expect(driver.core.current == "a")
        #expect(driver.events.last?.kind == .switched(from: "b", to: "a", cause: .pushEnded))
    }

    @Test(arguments: [UInt64(6), 7])
    func `a pushed command whose version is not newer is an error`(version: UInt64) throws {
        let driver = try CoreDriver()
        try driver.push(PushCommand(version: 7, mode: .prefer, server: "b"))

        #expect(throws: SwitchError.staleCommand(version: version, last: 7)) {
            try driver.push(PushCommand(version: version, mode: .prefer, server: "c"))
        }

        #expect(driver.core.current == "b")
    }

    @Test func `clients apply a pushed command at random times within its spread`() throws {
        var delays: [Double] = []
        for seed in 1...50 {
            let driver = try CoreDriver(seed: UInt64(seed))
            try driver.push(PushCommand(version: 1, mode: .prefer, server: "b", spread: .seconds(10)))
            while driver.core.current == "a" {
                driver.advance(0.5)
                driver.request(.ok)
            }
            delays.append(driver.now.seconds)
        }

        #expect(delays.allSatisfy { $0 <= 10 })
        #expect(Set(delays).count > 10)
    }

    @Test func `a server that a pushed command forces gets all requests until the server is ejected`() throws {
        let driver = try CoreDriver()
        try driver.push(PushCommand(version: 1, mode: .force, server: "b"))

        driver.failedOver(.refused)
        #expect(driver.choose()?.server == 1)
        driver.failedOver(.refused)

        #expect(driver.state("b") == .ejected)
        #expect(driver.core.current == "a")
    }

    @Test func `a server that a pushed command avoids is used last until a clear command restores the order`()
        throws
    {
        let driver = try CoreDriver()

        try driver.push(PushCommand(version: 1, mode: .avoid, server: "a"))
        #expect(driver.core.current == "b")
        try driver.push(PushCommand(version: 2, mode: .clear, server: ""))

        #expect(driver.core.current == "a")
    }

    @Test func `a pushed command with invalid times is an error`() throws {
        let driver = try CoreDriver()

        #expect(throws: SwitchError.self) {
            try driver.push(PushCommand(version: 1, mode: .prefer, server: "b", timeToLive: .zero))
        }
        #expect(throws: SwitchError.self) {
            try driver.push(PushCommand(version: 1, mode: .prefer, server: "b", spread: .seconds(-1)))
        }

        #expect(driver.core.current == "a")
    }
}
