/// What goes wrong, and how much the servers can take: three servers, the first of which has trouble for two minutes.
///
/// Capacities are multiples of the fleet's whole load. A server that was dead or hung comes back cold: a third of its
/// capacity, growing to all of it within a minute.
enum FleetScenario: String, Sendable, CaseIterable, Encodable {
    /// Server 1 dies; each of the others could take the whole load.
    case deathAmple = "death-ample"
    /// Server 1 dies; the others can take the load together.
    case deathTight = "death-tight"
    /// Server 1 sinks to 60 % of the load; the others could take the rest together.
    case brownout
    /// Server 1 hangs; each of the others could take the whole load.
    case hang
    /// The networks of 30 % of the clients fail for a minute; the servers are well.
    case network30
    /// Server 1 dies; the others together can take 80 % of the load.
    case deathShort = "death-short"

    /// How long requests are sent, in seconds.
    static let duration = 420.0
    /// When the trouble begins, in seconds.
    static let troubleStart = 60.0
    /// How long a server needs until it is warm, in seconds.
    private static let warmUp = 60.0

    /// When the trouble is over, in seconds.
    var troubleEnd: Double { self == .network30 ? 120 : 180 }

    /// When the trouble is, in seconds.
    var trouble: Range<Double> { Self.troubleStart..<troubleEnd }

    /// Whether the first server fails altogether.
    var hasOutage: Bool { self != .brownout && self != .network30 }

    /// Whether the first server, and not the network, has the trouble.
    var hasTroubledServer: Bool { self != .network30 }

    /// The share of the clients whose network fails.
    var cutOffShare: Double { self == .network30 ? 0.3 : 0 }

    /// Whether connections to the first server are lost when the trouble begins.
    var losesConnections: Bool { hasOutage && self != .hang }

    /// The usual capacities.
    private var capacities: [Double] {
        switch self {
        case .deathAmple, .hang, .network30: [1.5, 1.5, 1.5]
        case .deathTight, .brownout: [1.5, 0.7, 0.7]
        case .deathShort: [1.5, 0.4, 0.4]
        }
    }

    /// The servers, in order of preference.
    ///
    /// - Parameters:
    ///   - load: The requests per second of the whole fleet.
    ///   - model: How they treat a queue that grows.
    /// - Returns: The three servers.
    func servers(load: Double, model: ServerModel) -> [SimulatedServer] {
        capacities.enumerated().map { index, capacity in
            guard index == 0 else {
                return SimulatedServer(
                    capacity: CapacityProfile([.init(start: 0, rate: capacity * load)]),
                    model: model
                )
            }
            let outage = hasOutage ? SimulatedServer.Outage(refuses: self != .hang, span: trouble) : nil
            return SimulatedServer(capacity: troubled(capacity * load, load), outage: outage, model: model)
        }
    }

    /// The capacity of the server that has trouble.
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
