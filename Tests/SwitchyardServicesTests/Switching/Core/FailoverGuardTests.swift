import Testing

@testable import SwitchyardServices

@Suite struct FailoverGuardTests {
    private static let endpoint = RequestTraits(endpoint: 7)

    /// A decision that a test changes so that chosen guards stop the failover.
    private struct Decision {
        var policy = SwitchPolicy.recommended
        var request: FailoverRequest
        var endpointFails = false
        var isOverloaded = false

        init() {
            request = FailoverRequest(after: .reset)
            request.tried = [0]
            request.traits = FailoverGuardTests.endpoint
            policy.maximumAttempts = 5
        }

        /// Makes a guard stop the failover.
        mutating func breach(_ guarding: FailoverGuard) {
            switch guarding {
            case .resendRule: request.mayBeResent = false
            case .deadline: request.hasTime = false
            case .fixedServer: request.leavesChoice = false
            case .otherHost: request.hasLeftService = true
            case .policy: policy.failsOver = false
            case .attemptLimit: policy.maximumAttempts = 1
            case .budget: policy.budgets.failoverTokens = 0
            case .endpoint: endpointFails = true
            case .servers: request.tried = [0, 1, 2]
            case .roles: request.traits.unsuitable = [1, 2]
            case .overload: isOverloaded = true
            }
        }

        func result() throws -> FailoverDecision {
            let driver = try driver()
            return driver.core.decideFailover(request, at: driver.now)
        }

        /// Returns whether the core announces a failover before the attempt has failed.
        func isAnnounced() throws -> Bool {
            let driver = try driver()
            return driver.core.couldFailOver(excluding: request.tried, for: request.traits, at: driver.now)
        }

        private func driver() throws -> CoreDriver {
            let driver = try CoreDriver(policy: policy)
            // A failing endpoint is forgotten before servers count as overloaded.
            if endpointFails {
                for _ in 0..<4 { FailoverGuardTests.failOnTwoServers(driver) }
            } else if isOverloaded {
                FailoverGuardTests.overloadOthers(driver)
            }
            return driver
        }
    }

    /// Makes a request for the endpoint that fails on two servers.
    private static func failOnTwoServers(_ driver: CoreDriver) {
        guard let first = driver.choose(for: endpoint) else { return }
        var request = FailoverRequest(after: .reset)
        (request.tried, request.traits) = ([first.server], endpoint)
        guard case .attempt(let second) = driver.core.decideFailover(request, at: driver.now) else {
            return driver.settle(first, .failure(.reset))
        }
        driver.settle([SettledAttempt(first, .failure(.reset)), SettledAttempt(second, .failure(.reset))])
    }

    /// Ejects the first server, and lets the other servers time out for 14 s.
    private static func overloadOthers(_ driver: CoreDriver) {
        driver.requests(40, .ok)
        driver.eject("a")
        for _ in 0..<14 {
            driver.advance(1)
            guard let first = driver.choose(excluding: [0]) else { continue }
            guard let second = driver.choose(excluding: [0, first.server]) else { continue }
            driver.settle([SettledAttempt(first, .timedOut), SettledAttempt(second, .timedOut)])
        }
    }

    @Test func `a request that no failover guard stops goes to the next server`() throws {
        guard case .attempt(let attempt) = try Decision().result() else {
            Issue.record("a guard stopped the failover")
            return
        }
        #expect(attempt.server == 1)
        #expect(attempt.role == .failover)
    }

    @Test(arguments: FailoverGuard.allCases)
    func `if several failover guards apply, the first guard is reported`(
        guarding: FailoverGuard
    ) throws {
        var decision = Decision()
        for broken in FailoverGuard.allCases.drop(while: { $0 != guarding }) { decision.breach(broken) }

        guard case .stopped(guarding) = try decision.result() else {
            Issue.record("\(guarding) did not stop the failover")
            return
        }
    }

    @Test(arguments: FailoverGuard.allCases)
    func `each failover guard can stop the failover on its own`(guarding: FailoverGuard) throws {
        var decision = Decision()
        decision.breach(guarding)

        guard case .stopped(guarding) = try decision.result() else {
            Issue.record("\(guarding) did not stop the failover")
            return
        }
    }

    @Test(arguments: [FailoverGuard.policy, .attemptLimit, .budget, .servers, .roles, .overload])
    func `couldFailOver is false if a guard would stop any failover of the request`(guarding: FailoverGuard) throws {
        var decision = Decision()
        decision.breach(guarding)

        let isAnnounced = try decision.isAnnounced()

        #expect(!isAnnounced)
    }

    @Test func `couldFailOver is true if no guard would stop a failover`() throws {
        let isAnnounced = try Decision().isAnnounced()

        #expect(isAnnounced)
    }

    @Test func `couldFailOver is false while every server fails to connect for the endpoint`() throws {
        let driver = try CoreDriver()
        for _ in 0..<4 {
            guard let first = driver.choose() else { continue }
            guard let second = driver.failover(after: .connectTimeout, excluding: [first.server]) else { break }
            driver.settle([first, second].map { SettledAttempt($0, .failure(.connectTimeout)) })
        }

        let isAnnounced = driver.core.couldFailOver(excluding: [0], at: driver.now)

        #expect(!isAnnounced)
    }

    @Test func `couldFailOver is false if the only fallback server was overloaded recently`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(40, .ok)
        for _ in 0..<3 { driver.overload("b", .http(503)) }

        let isAnnounced = driver.core.couldFailOver(excluding: [0], at: driver.now)

        #expect(!isAnnounced)
    }

    @Test func `couldFailOver is false if every other server is out of use`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(40, .ok)
        driver.eject("b")

        let isAnnounced = driver.core.couldFailOver(excluding: [0], at: driver.now)

        #expect(!isAnnounced)
        #expect(driver.failover(after: .refused, excluding: [0])?.server == 1)
    }

    @Test func `couldFailOver is true for a request to a fallback server even if the first server is out of use`()
        throws
    {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(40, .ok)
        driver.eject("a")

        let isAnnounced = driver.core.couldFailOver(excluding: [1], at: driver.now)

        #expect(isAnnounced)
    }

    @Test func `every failover guard has its own description`() {
        #expect(Set(FailoverGuard.allCases.map(\.description)).count == FailoverGuard.allCases.count)
    }
}
