/// A failure scenario with three servers.
///
/// The first server, or the network, fails for one or two minutes.
///
/// Capacities are multiples of the fleet's total load. A server that was dead or hung restarts cold: it has a third of
/// its capacity, which grows to the full capacity within a minute.
enum FleetScenario: String, Sendable, CaseIterable, Encodable {
    /// Server 1 dies; each of the other servers could handle the total load.
    case deathAmple = "death-ample"
    /// Server 1 dies; the other servers can handle the load together.
    case deathTight = "death-tight"
    /// The capacity of server 1 drops to 60 % of the load; the other servers could handle the rest together.
    case brownout
    /// Server 1 hangs; each of the other servers could handle the total load.
    case hang
    /// The networks of 30 % of the clients fail for a minute; the servers are healthy.
    case network30
    /// Server 1 dies; the other servers together can handle 80 % of the load.
    case deathShort = "death-short"
    /// No server fails. Each server can handle half of the total load, the response times of the servers differ by 5
    /// ms, and every client is connected to every server.
    case herd

    /// The time in seconds for which requests arrive.
    static let duration = 420.0
    /// The time in seconds at which the failure starts.
    static let troubleStart = 60.0
    /// The time in seconds until a restarted server has its full capacity.
    private static let warmUp = 60.0

    /// The time in seconds at which the failure ends.
    var troubleEnd: Double { self == .network30 ? 120 : 180 }

    /// The period of the failure in seconds.
    var trouble: Range<Double> { Self.troubleStart..<troubleEnd }

    /// Whether a server or the network fails.
    var hasFailure: Bool { self != .herd }

    /// Whether the first server fails completely.
    var hasOutage: Bool { hasTroubledServer && self != .brownout }

    /// Whether the first server fails, and not the network.
    var hasTroubledServer: Bool { hasFailure && self != .network30 }

    /// The share of the clients whose network fails.
    var cutOffShare: Double { self == .network30 ? 0.3 : 0 }

    /// Whether connections to the first server are lost when the failure starts.
    var losesConnections: Bool { hasOutage && self != .hang }

    /// The capacities of the servers while they are healthy, as multiples of the fleet's load.
    private var capacities: [Double] {
        switch self {
        case .deathAmple, .hang, .network30: [1.5, 1.5, 1.5]
        case .deathTight, .brownout: [1.5, 0.7, 0.7]
        case .deathShort: [1.5, 0.4, 0.4]
        case .herd: [0.5, 0.5, 0.5]
        }
    }

    /// Returns the servers in order of preference.
    ///
    /// - Parameters:
    ///   - load: The requests per second of the whole fleet.
    ///   - model: The way in which the servers handle a growing queue.
    /// - Returns: The three servers.
    func servers(load: Double, model: ServerModel) -> [SimulatedServer] {
        capacities.enumerated().map { index, capacity in
            guard index == 0 else {
                return SimulatedServer(
                    capacity: CapacityProfile([.init(start: 0, rate: capacity * load)]),
                    serviceTime: SimulatedServer.serviceTime + (self == .herd ? 0.005 * Double(index) : 0),
                    model: model
                )
            }
            let outage = hasOutage ? SimulatedServer.Outage(refuses: self != .hang, span: trouble) : nil
            return SimulatedServer(capacity: troubled(capacity * load, load), outage: outage, model: model)
        }
    }

    /// Returns the capacity over time of the server that fails.
    private func troubled(_ usual: Double, _ load: Double) -> CapacityProfile {
        var pieces = [CapacityProfile.Piece(start: 0, rate: usual)]
        if self == .brownout {
            pieces.append(.init(start: Self.troubleStart, rate: 0.6 * load))
            pieces.append(.init(start: troubleEnd, rate: usual))
        } else if hasOutage {
            pieces.append(.init(start: troubleEnd, rate: usual / 3, slope: usual * 2 / 3 / Self.warmUp))
            pieces.append(.init(start: troubleEnd + Self.warmUp, rate: usual))
        }
        return CapacityProfile(pieces)
    }
}
