import Switchyard

/// The clients of the fleet: a switching core each, and next to nothing else.
struct FleetClients: Sendable {
    /// The servers' names, in order.
    static let servers = ["1", "2", "3"]
    /// Marks the end of a list of requests.
    static let noRequest = UInt32.max

    private static let cutOff: UInt8 = 0x80
    /// How many orders of the fallbacks are drawn; each client has one of them.
    private static let installations = 16_384

    /// The decisions of each client.
    var cores: ContiguousArray<SwitchingCore> = []
    /// The newest request of each client that is under way, the head of a list.
    var newestRequest: ContiguousArray<UInt32>
    /// How often each client has switched.
    var switches: ContiguousArray<UInt16>
    /// How long after the trouble each client was first served by the preferred server, in seconds; NaN before.
    var returnTimes: ContiguousArray<Float>
    /// One bit per server with an open connection, and one for a client whose network will fail.
    private var links: ContiguousArray<UInt8>

    /// Creates clients that are connected to the first server.
    init(_ plan: FleetPlan, random: inout FleetRandom) throws(SwitchError) {
        newestRequest = ContiguousArray(repeating: Self.noRequest, count: plan.clients)
        switches = ContiguousArray(repeating: 0, count: plan.clients)
        returnTimes = ContiguousArray(repeating: .nan, count: plan.clients)
        links = ContiguousArray(repeating: 1, count: plan.clients)
        let models = try Self.models(plan, random: &random)
        cores.reserveCapacity(plan.clients)
        for client in 0..<plan.clients {
            let model = models[random.index(below: models.count)]
            cores.append(model.core.reseeded(random.next()))
            if plan.isWarm { connect(client, to: model.fallback) }
            if random.unit() < plan.scenario.cutOffShare { links[client] |= Self.cutOff }
        }
    }

    /// The cores that the clients' are copied from, with the first fallback of each.
    private static func models(
        _ plan: FleetPlan,
        random: inout FleetRandom
    ) throws(SwitchError) -> [(core: SwitchingCore, fallback: Int)] {
        let members = servers.map { SwitchingCore.Member(id: $0) }
        var models: [(core: SwitchingCore, fallback: Int)] = []
        for _ in 0..<min(installations, plan.clients) {
            let core = try SwitchingCore(
                members: members,
                policy: plan.policy,
                at: .zero,
                seed: 0,
                installation: random.next()
            )
            var trial = core
            models.append((core, trial.choose(excluding: [0], at: .zero)?.server ?? 1))
        }
        return models
    }

    /// Whether the client's network will fail.
    func isCutOff(_ client: Int) -> Bool { links[client] & Self.cutOff != 0 }

    /// Whether the client has an open connection to the server.
    func isConnected(_ client: Int, to server: Int) -> Bool { links[client] & 1 << UInt8(server) != 0 }

    /// Opens a connection.
    mutating func connect(_ client: Int, to server: Int) { links[client] |= 1 << UInt8(server) }

    /// Closes everybody's connection to a server.
    mutating func disconnectAll(from server: Int) {
        for client in links.indices { links[client] &= ~(1 << UInt8(server)) }
    }
}
