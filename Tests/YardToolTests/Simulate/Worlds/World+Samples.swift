@testable import yard

extension World {
    /// A world without faults unless troubles are given: 100 consecutive reads.
    static func sample(
        servers: Int = 2,
        _ troubles: [Trouble] = [],
        kinds: [CallKind] = [.read],
        traffic: Traffic = .sample
    ) -> World {
        var world = World(number: 1)
        world.servers = servers
        world.latency = Latency(median: 0.01, spread: 0)
        world.endpoints = kinds.map { Endpoint(kind: $0, shape: .plain, weight: 1) }
        world.troubles = troubles
        world.traffic = traffic
        return world
    }
}

extension Traffic {
    /// 100 consecutive calls at 100 ms intervals with a deadline of 2 s.
    static let sample = Traffic(
        calls: 100,
        arrival: .closed(callers: 1, pause: 0.1),
        deadlines: 2...2,
        lowShare: 0,
        highShare: 0
    )
}

extension Arrangement {
    /// Servers with these roles, without groups and zones.
    static func sample(_ roles: [Role]) -> Arrangement {
        Arrangement(roles: roles, weights: roles.map { _ in 1 }, zones: roles.map { _ in nil })
    }
}

extension Trouble {
    init(_ fault: Fault, server: Int? = nil, endpoint: Int? = nil, window: Window? = nil, share: Double = 1) {
        self.init(fault: fault, server: server, endpoint: endpoint, window: window, share: share, salt: 7)
    }
}

extension Trouble.Window {
    init(_ begin: Double, _ end: Double) {
        self.init(begin: begin, end: end, cycle: nil)
    }
}
