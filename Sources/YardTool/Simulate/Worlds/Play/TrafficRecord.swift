import Switchyard

/// What a client has sent to the servers of a world.
struct TrafficRecord: Sendable {
    /// A request of a call.
    struct Sending: Sendable {
        /// Why it was sent.
        enum Role: String, Sendable {
            case first
            /// All before it had failed.
            case failover
            /// One before it was still under way.
            case beside
        }

        var server: Int
        var time: Double
        var role: Role
        /// How and when it ended; `nil` while it has not.
        var end: ServerReply.End?
        var endTime = 0.0
        /// When the server executes it; `nil` where it never does.
        var executionTime: Double?

        /// Whether the server may have got it.
        var wasWritten: Bool {
            switch end {
            case .failure(_, let wasSent): wasSent
            case .silence(let isConnected): isConnected
            case .answer, nil: true
            }
        }

        /// Whether the answer shows that the server works.
        var isWell: Bool {
            if case .answer(let status, _) = end { status < 500 } else { false }
        }
    }

    /// A request in the record.
    struct Place: Sendable {
        fileprivate var call: Int
        fileprivate var index: Int
    }

    /// The requests of each call, in order.
    private(set) var sendings: [[Sending]]
    /// The probes, comparisons and warm-ups.
    private(set) var shadows = 0
    /// Those that were no reads.
    private(set) var writtenShadows = 0

    init(calls: Int) {
        sendings = Array(repeating: [], count: calls)
    }

    /// The requests of all calls.
    var requests: Int { sendings.reduce(0) { $0 + $1.count } }

    /// Those that a server may have got: one that was refused has cost no server any work.
    var writtenRequests: Int { sendings.reduce(0) { $0 + $1.count { $0.wasWritten } } }

    /// The requests that were sent after a failure, and whose answers show that it was the other server's.
    var witnessedFailovers: Int { sendings.joined().count { $0.role == .failover && $0.isWell } }

    /// Enters a request; `nil` for a shadow, which is only counted.
    mutating func add(_ request: PlacedRequest, at time: Double, executedAfter delay: Double? = nil) -> Place? {
        guard !request.isShadow, sendings.indices.contains(request.call) else {
            shadows += 1
            if request.method != .get { writtenShadows += 1 }
            return nil
        }
        let earlier = sendings[request.call]
        let role: Sending.Role =
            earlier.isEmpty ? .first : earlier.allSatisfy { $0.end != nil } ? .failover : .beside
        var sending = Sending(server: request.server, time: time, role: role)
        sending.executionTime = delay.map { time + $0 }
        sendings[request.call].append(sending)
        return Place(call: request.call, index: earlier.count)
    }

    /// Enters the end of a request.
    mutating func end(_ place: Place?, _ end: ServerReply.End, at time: Double) {
        guard let place else { return }
        sendings[place.call][place.index].end = end
        sendings[place.call][place.index].endTime = time
    }
}
