import Switchyard

/// The clients of the fleet.
///
/// A client consists mainly of a switching core.
struct FleetClients: Sendable {
    /// The names of the servers in order.
    static let servers = ["1", "2", "3"]
    /// The end marker of a list of requests.
    static let noRequest = UInt32.max

    private static let cutOff: UInt8 = 0x80
    /// The number of random orders of the fallback servers.
    ///
    /// Each client uses one of these orders.
    private static let installations = 16_384

    /// The switching core of each client.
    var cores: ContiguousArray<SwitchingCore> = []
    /// The newest request in progress of each client, as the head of a linked list.
    var newestRequest: ContiguousArray<UInt32>
    /// The number of switches of each client.
    var switches: ContiguousArray<UInt16>
    /// The time in seconds from the end of the failure until the preferred server first responds to each client again,
    /// or NaN if it has not responded.
    var returnTimes: ContiguousArray<Float>
    /// A bit set for each client: one bit for each server to which a connection is open, and one bit if the client's
    /// network fails in the scenario.
    private var links: ContiguousArray<UInt8>

    /// Creates clients that are connected to the first server, or to every server if none fails.
    init(_ plan: FleetPlan, random: inout FleetRandom) throws(SwitchError) {
        newestRequest = ContiguousArray(repeating: Self.noRequest, count: plan.clients)
        switches = ContiguousArray(repeating: 0, count: plan.clients)
        returnTimes = ContiguousArray(repeating: .nan, count: plan.clients)
        let connected: UInt8 = plan.scenario.hasFailure ? 1 : 1 << UInt8(Self.servers.count) - 1
        links = ContiguousArray(repeating: connected, count: plan.clients)
        let models = try Self.models(plan, random: &random)
        cores.reserveCapacity(plan.clients)
        for client in 0..<plan.clients {
            let model = models[random.index(below: models.count)]
            cores.append(model.core.reseeded(random.next()))
            if plan.isWarm { connect(client, to: model.fallback) }
            if random.unit() < plan.scenario.cutOffShare { links[client] |= Self.cutOff }
        }
    }

    /// Returns prototypes of the clients' cores, one for each order of the fallback servers, and the first fallback in
    /// each order.
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

    /// Returns whether the client's network fails in the scenario.
    func isCutOff(_ client: Int) -> Bool { links[client] & Self.cutOff != 0 }

    /// Returns whether the client has an open connection to the server.
    func isConnected(_ client: Int, to server: Int) -> Bool { links[client] & 1 << UInt8(server) != 0 }

    /// Opens a connection.
    mutating func connect(_ client: Int, to server: Int) { links[client] |= 1 << UInt8(server) }

    /// Closes the connections of all clients to a server.
    mutating func disconnectAll(from server: Int) {
        for client in links.indices { links[client] &= ~(1 << UInt8(server)) }
    }
}
