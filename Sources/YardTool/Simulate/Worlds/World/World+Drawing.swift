import Foundation
import Switchyard

extension World {
    /// Generates the world (the random scenario) with this number, which is the seed.
    ///
    /// The same number always produces the same world.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - hasRoles: Whether the servers have roles, groups and zones.
    init(number: UInt64, hasRoles: Bool = false) {
        var random = WorldRandom(of: number)
        self.number = number
        servers = random.pick([1: 0.08, 2: 0.32, 3: 0.4, 4: 0.2])
        latency = Latency(median: random.scaled(0.002...0.15), spread: random.number(0.05...0.6))
        endpoints = (0..<Int(random.number(1...7))).prefix(6).map { _ in Endpoint(&random) }
        traffic = Traffic(&random)
        troubles = []
        let horizon = traffic.duration(answering: latency.median)
        for _ in 0..<random.pick([0: 0.05, 1: 0.4, 2: 0.3, 3: 0.15, 4: 0.1]) {
            troubles.append(Trouble(&random, in: self, until: horizon))
        }
        // The faults are sorted by the stage of a request that they affect: first the connection, then the server, then
        // the quota.
        troubles.sort { $0.fault.depth < $1.fault.depth }
        if hasRoles { arrangement = Arrangement(of: self) }
    }
}

extension World.Endpoint {
    fileprivate init(_ random: inout WorldRandom) {
        kind = random.pick([.read: 0.55, .replacement: 0.12, .keyedWrite: 0.13, .write: 0.2])
        shape = random.pick([.plain: 0.5, .numbered: 0.25, .template: 0.25])
        weight = random.scaled(0.1...2)
    }
}

extension Traffic {
    fileprivate init(_ random: inout WorldRandom) {
        // Small worlds show most of the failures of large worlds. More worlds can be run in the same time if they are
        // small.
        calls = min(random.scaled(30...400), random.scaled(30...400), random.scaled(30...400))
        if random.happens(0.5) {
            let burst = random.happens(0.6) ? 1 : random.scaled(2...50)
            arrival = .open(rate: random.scaled(1...60), burst: burst)
        } else {
            arrival = .closed(callers: random.scaled(1...50), pause: random.scaled(0.001...1))
        }
        let (one, other) = (random.scaled(0.5...10), random.scaled(0.5...10))
        deadlines = min(one, other)...max(one, other)
        lowShare = random.happens(0.5) ? random.number(0...0.4) : 0
        highShare = random.happens(0.5) ? random.number(0...0.4) : 0
    }

    /// Returns the approximate time in seconds that all calls together take if nothing fails and each response takes
    /// `time`.
    func duration(answering time: Double) -> Double {
        switch arrival {
        case .open(let rate, _): Double(calls) / rate
        case .closed(let callers, let pause): Double(calls) / Double(callers) * (pause + time)
        }
    }
}

// MARK: - Troubles

extension Trouble {
    /// The kinds of faults that are generated.
    private enum Sort { case oddEndpoint, outage, spikes, slowSeconds, quota }

    fileprivate init(_ random: inout WorldRandom, in world: World, until horizon: Double) {
        salt = random.next()
        fault = .hang
        let sort = random.pick([
            Sort.oddEndpoint: 0.4, .outage: 0.32, .spikes: 0.12, .slowSeconds: 0.08, .quota: 0.08,
        ])
        switch sort {
        case .oddEndpoint: becomeOdd(&random, in: world)
        case .outage: becomeOutage(&random, in: world, until: horizon)
        case .spikes:
            fault = .slow(random.scaled(0.1...3))
            share = random.scaled(0.01...0.2)
            server = random.happens(0.5) ? nil : random.server(of: world)
        case .slowSeconds:
            fault = .slow(random.scaled(0.05...1.5))
            server = random.happens(0.7) ? nil : random.server(of: world)
            let period = random.number(2...10)
            let cycle = Window.Cycle(period: period, bad: random.number(0.3...1))
            window = Window(begin: random.number(0...period), end: .infinity, cycle: cycle)
        case .quota:
            fault = .quota(random.scaled(3...60), period: random.scaled(1...30), isPerServer: random.happens(0.3))
            endpoint = random.happens(0.5) ? nil : random.endpoint(of: world)
        }
    }

    /// Turns this fault into a failure of one endpoint, usually in the same way on all servers.
    private mutating func becomeOdd(_ random: inout WorldRandom, in world: World) {
        fault = random.pick([
            .status(429, retryAfter: nil): 1, .status(429, retryAfter: 3): 0.7, .status(503, retryAfter: nil): 1.2,
            .status(503, retryAfter: 5): 1, .status(500, retryAfter: nil): 1, .status(502, retryAfter: nil): 0.7,
            .status(401, retryAfter: nil): 0.4, .status(404, retryAfter: nil): 0.4, .slow(2): 1, .hang: 1, .reset: 1,
            .truncated: 0.8, .garbage: 0.6,
        ])
        if case .slow = fault { fault = .slow(random.scaled(0.2...5)) }
        endpoint = random.endpoint(of: world)
        server = random.happens(0.7) ? nil : random.server(of: world)
        if random.happens(0.35) {
            share = random.scaled(0.02...0.8)
            isOfCall = random.happens(0.4)
        }
    }

    /// Turns this fault into a failure of one server or of all servers for a period.
    private mutating func becomeOutage(_ random: inout WorldRandom, in world: World, until horizon: Double) {
        fault = random.pick([
            .refused: 2, .blackHole: 1, .hang: 1.2, .status(500, retryAfter: nil): 0.8,
            .status(503, retryAfter: nil): 0.8, .status(503, retryAfter: 2): 0.5, .reset: 0.6, .slow(1): 0.8,
        ])
        if case .slow = fault { fault = .slow(random.scaled(0.1...3)) }
        server = random.happens(0.25) ? nil : random.server(of: world)
        if random.happens(0.12) { share = random.number(0.1...0.9) }
        let begin = random.number(0...0.8) * horizon
        let length = random.scaled(0.2...max(0.4, horizon))
        window = Window(begin: begin, end: begin + length, cycle: nil)
        if random.happens(0.25) {
            let period = random.scaled(0.4...5)
            window?.end = begin + max(length, 3 * period)
            window?.cycle = Window.Cycle(period: period, bad: period * random.number(0.1...0.7))
        }
    }
}

extension WorldRandom {
    /// Returns a random server.
    ///
    /// The first server is as likely as all other servers together.
    fileprivate mutating func server(of world: World) -> Int {
        world.servers == 1 || happens(0.5) ? 0 : 1 + Int(next() % UInt64(world.servers - 1))
    }

    fileprivate mutating func endpoint(of world: World) -> Int { Int(next() % UInt64(world.endpoints.count)) }
}

extension Trouble.Fault {
    /// The stage of a request that the fault affects.
    ///
    /// A lower number is an earlier stage.
    fileprivate var depth: Int {
        switch self {
        case .refused, .blackHole: 0
        case .reset, .hang: 1
        case .quota: 3
        default: 2
        }
    }
}
