import Switchyard

/// The roles, groups and zones of the servers of a world (a random scenario).
struct Arrangement: Sendable, Equatable {
    /// The requests that a server serves.
    enum Role: Sendable, Equatable {
        case everything
        case reads
        /// The requests to these endpoints.
        case endpoints(Set<Int>)
    }

    /// The role of each server; at least one server serves everything.
    var roles: [Role]
    /// The priority of each server, or `nil` if the order of the list is the order of preference.
    var priorities: [Int]?
    var weights: [Double]
    /// The zone of each server.
    var zones: [String?]
    /// The zone that the client prefers.
    var preferredZone: String?

    /// Whether servers of equal priority share their traffic.
    var hasGroups: Bool { priorities != nil && Set(roles.indices.map(rank)).count < roles.count }

    /// Returns the rank of a server: the servers of the preferred zone come first, then the priority decides.
    func rank(of server: Int) -> [Int] {
        let isAway = preferredZone != nil && zones[server] != preferredZone
        return [isAway ? 1 : 0, priorities?[server] ?? 0]
    }

    /// Whether a server serves a request to an endpoint, or to the base URL if the endpoint is `nil`.
    func isServed(_ endpoint: Int?, _ method: HTTPMethod, by server: Int) -> Bool {
        switch roles[server] {
        case .everything: true
        case .reads: method.isSafe
        case .endpoints(let served): endpoint.map(served.contains) ?? false
        }
    }
}

extension Arrangement {
    /// Generates the arrangement of a world.
    ///
    /// The arrangement has random numbers of its own, so the rest of the world is the same with and without an
    /// arrangement.
    init(of world: World) {
        var random = WorldRandom(of: world.number ^ 0x5EED_0F20_1E5A_110C)
        let indices = 0..<world.servers
        roles = indices.map { _ in
            switch random.pick([0: 0.45, 1: 0.2, 2: 0.35]) {
            case 0: .everything
            case 1: .reads
            default: .endpoints(Set(world.endpoints.indices.filter { _ in random.happens(0.5) } + [0]))
            }
        }
        roles[Int(random.next() % UInt64(world.servers))] = .everything
        weights = indices.map { _ in random.scaled(0.5...4) }
        if random.happens(0.5) {
            // Ranks without a gap: each server has the rank of the previous server or the next rank.
            var rank = 1
            priorities = indices.map { index in
                if index > 0, random.happens(0.5) { rank += 1 }
                return rank
            }
        }
        zones = indices.map { _ in random.pick([nil: 0.4, "eu": 0.3, "us": 0.3]) }
        preferredZone = zones.compactMap(\.self).first.flatMap { random.happens(0.5) ? $0 : nil }
    }

    /// Converts the role of a server to `ServedRequests`, the form in which a service describes it.
    func served(by server: Int) -> ServedRequests {
        switch roles[server] {
        case .everything: .everything
        case .reads: .reads
        case .endpoints(let endpoints):
            .matching(endpoints.sorted().map(WorldTransport.path).flatMap { ["* /\($0)", "* /\($0)/*"] })
        }
    }
}

extension Arrangement: CustomStringConvertible {
    /// One line for each server.
    var description: String {
        let lines = roles.indices.map { index in
            let rank = priorities.map { ", priority \($0[index])" } ?? ""
            let zone = zones[index].map { ", zone \($0)" } ?? ""
            return "s\(index): \(roles[index])\(rank), weight \(weights[index].rounded(to: 2))\(zone)"
        }
        return (lines + [preferredZone.map { "preferred zone \($0)" }].compactMap(\.self)).joined(separator: "\n")
    }
}
