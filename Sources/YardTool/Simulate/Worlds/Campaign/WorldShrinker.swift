import Switchyard

/// Reduces a world (a random scenario, ``World``) with a violation to a smaller world: it removes one part after
/// another if the violation occurs without this part too.
struct WorldShrinker {
    /// The maximum number of simpler worlds that are run.
    static let mostTries = 400

    /// A function that returns whether the violation still occurs in a world.
    let fails: (World) throws -> Bool

    /// Returns the smallest world with the violation that was found, or the world itself if no part can be removed.
    func smallest(of world: World) throws -> World {
        var best = world
        var tries = 0
        var hasShrunk = true
        while hasShrunk {
            hasShrunk = false
            for candidate in best.simpler where tries < Self.mostTries {
                tries += 1
                guard try fails(candidate) else { continue }
                best = candidate
                hasShrunk = true
                break
            }
        }
        return best
    }
}

extension World {
    /// Slightly simpler worlds, the world with the greatest reduction first.
    var simpler: [World] {
        let fewer = plainServers + fewerTroubles + fewerEndpoints + fewerServers
        let steps = fewer + simplerTraffic + simplerTroubles + evenResponses
        return steps.filter { $0 != self }
    }

    private func with(_ change: (inout World) -> Void) -> World {
        var copy = self
        change(&copy)
        return copy
    }

    private var fewerTroubles: [World] {
        troubles.indices.map { index in with { $0.troubles.remove(at: index) } }
    }

    /// Simpler worlds: without roles, groups and zones, or with fewer of them.
    private var plainServers: [World] {
        guard let arrangement else { return [] }
        let roles = arrangement.roles.indices.map { index in with { $0.arrangement?.roles[index] = .everything } }
        return [with { $0.arrangement = nil }] + roles + [
            with { $0.arrangement?.priorities = nil }, with { $0.arrangement?.preferredZone = nil },
        ]
    }

    private var fewerServers: [World] {
        guard servers > 1, arrangement == nil else { return [] }
        return (0..<servers).reversed().map { gone in
            with { world in
                world.servers -= 1
                world.troubles.removeAll { $0.server == gone }
                for index in world.troubles.indices {
                    if let server = world.troubles[index].server, server > gone {
                        world.troubles[index].server = server - 1
                    }
                }
            }
        }
    }

    private var fewerEndpoints: [World] {
        guard endpoints.count > 1, arrangement == nil else { return [] }
        return endpoints.indices.map { gone in
            with { world in
                world.endpoints.remove(at: gone)
                world.troubles.removeAll { $0.endpoint == gone }
                for index in world.troubles.indices {
                    if let endpoint = world.troubles[index].endpoint, endpoint > gone {
                        world.troubles[index].endpoint = endpoint - 1
                    }
                }
            }
        }
    }

    private var simplerTraffic: [World] {
        let calls = traffic.calls
        var counts = [calls / 2, calls * 3 / 4, calls * 9 / 10, calls - 1].filter { $0 > 0 && $0 < calls }
            .map { count in with { $0.traffic.calls = count } }
        switch traffic.arrival {
        case .open(let rate, let burst):
            if burst > 1 {
                counts += [1, burst / 2].map { burst in with { $0.traffic.arrival = .open(rate: rate, burst: burst) } }
            }
        case .closed(let callers, let pause):
            let fewer = [1, callers / 2, callers - 1].filter { $0 > 0 && $0 < callers }
            counts += fewer.map { callers in with { $0.traffic.arrival = .closed(callers: callers, pause: pause) } }
        }
        return counts + [
            with { ($0.traffic.lowShare, $0.traffic.highShare) = (0, 0) },
            with { $0.traffic.highShare = 0 },
            with { $0.traffic.deadlines = traffic.deadlines.upperBound...traffic.deadlines.upperBound },
        ]
    }

    private var simplerTroubles: [World] {
        troubles.indices.flatMap { index in
            [
                with { $0.troubles[index].window = nil },
                with { $0.troubles[index].window?.cycle = nil },
                with { $0.troubles[index].window?.end = .infinity },
                with { $0.troubles[index].share = 1 },
                with { $0.troubles[index].endpoint = nil },
            ]
        }
    }

    private var evenResponses: [World] {
        [
            with { $0.latency.spread = 0 },
            with { world in
                for index in world.endpoints.indices {
                    world.endpoints[index].shape = .plain
                    world.endpoints[index].weight = 1
                }
            },
        ]
    }
}
