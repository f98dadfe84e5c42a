import Switchyard

/// A simulation of a fleet of clients in virtual time.
///
/// Each client uses the real ``SwitchyardServices/SwitchingCore``.
///
/// The servers, the network and the time are simulated. The core makes every decision. Its methods are called in the
/// same order as by a real client:
///
///     arrival -> choose, takeProbe -> answer | failure -> takeFailover | timer -> takeHedge | deadline -> settle
///
/// If the core allows no second server for a request, the client asks the core again after `failoverPause` or
/// `hedgePause`.
///
/// There is one thread, one event queue and one random number generator, so the same plan produces the same result.
struct FleetSimulation: Sendable {
    /// The kinds of events in the queue.
    enum Occurrence {
        case reply(request: Int, attempt: Int)
        case timer(request: Int)
        case probeReply(Int)
        case trouble

        init(code: UInt32) {
            switch code {
            case .max: self = .trouble
            case 0x8000_0000...: self = .probeReply(Int(code & 0x7FFF_FFFF))
            default:
                let (request, part) = (Int(code >> 2), Int(code & 3))
                self = part == 3 ? .timer(request: request) : .reply(request: request, attempt: part)
            }
        }

        var code: UInt32 {
            switch self {
            case .reply(let request, let attempt): UInt32(request) << 2 | UInt32(attempt)
            case .timer(let request): UInt32(request) << 2 | 3
            case .probeReply(let probe): 0x8000_0000 | UInt32(probe)
            case .trouble: .max
            }
        }
    }

    let plan: FleetPlan
    var clients: FleetClients
    var servers: [SimulatedServer]
    var queue = EventQueue()
    var requests: ContiguousArray<FleetRequest> = []
    /// The attempts of all requests, with the attempts of each request next to each other.
    var attempts: ContiguousArray<FleetAttempt?> = []
    var freeRequests: ContiguousArray<UInt32> = []
    var probes: ContiguousArray<FleetAttempt?> = []
    var freeProbes: ContiguousArray<UInt32> = []
    var tally: FleetTally
    private var random: FleetRandom

    /// Prepares the clients and the servers.
    ///
    /// - Parameter plan: The plan of the simulation.
    /// - Throws: ``SwitchError`` if the policy is invalid.
    init(_ plan: FleetPlan) throws(SwitchError) {
        self.plan = plan
        random = FleetRandom(seed: plan.seed)
        clients = try FleetClients(plan, random: &random)
        servers = plan.scenario.servers(load: plan.load, model: plan.model)
        tally = FleetTally()
    }

    /// Generates the requests of ``FleetScenario/duration``, and runs until each request has ended.
    mutating func run() {
        queue.insert(Occurrence.trouble.code, at: MonotonicTime(seconds: FleetScenario.troubleStart))
        var arrival = random.gap(rate: plan.load)
        while arrival < FleetScenario.duration {
            let time = MonotonicTime(seconds: arrival)
            while let next = queue.first, next.at < time { handleNext() }
            start(client: random.index(below: plan.clients), at: time)
            arrival += random.gap(rate: plan.load)
        }
        while queue.first != nil { handleNext() }
    }

    private mutating func handleNext() {
        guard let entry = queue.removeFirst() else { return }
        switch Occurrence(code: entry.code) {
        case .reply(let request, let attempt):
            replyArrived(request, attempt, at: entry.at)
            release(request)
        case .timer(let request):
            timerRang(request, at: entry.at)
            release(request)
        case .probeReply(let probe):
            probeEnded(probe, at: entry.at)
        case .trouble:
            if plan.scenario.losesConnections { clients.disconnectAll(from: 0) }
        }
    }

    /// Adds an event of a request to the queue.
    mutating func schedule(_ occurrence: Occurrence, of request: Int, at time: MonotonicTime) {
        requests[request].pendingEvents += 1
        queue.insert(occurrence.code, at: time)
    }

    /// Frees the slot of a request that has ended and has no queued event.
    private mutating func release(_ request: Int) {
        requests[request].pendingEvents -= 1
        guard requests[request].pendingEvents == 0, requests[request].hasEnded else { return }
        freeRequests.append(UInt32(request))
    }
}
