import Switchyard

/// The requests that a client has sent to the servers of a world (a random scenario).
struct TrafficRecord: Sendable {
    /// A request of a call.
    struct Sending: Sendable {
        /// The reason for the request.
        enum Role: String, Sendable {
            case first
            /// All earlier requests had failed.
            case failover
            /// An earlier request of the call was still in progress.
            case beside
        }

        var server: Int
        var time: Double
        var role: Role
        /// The way in which the request ended, or `nil` while it has not ended.
        var end: ServerReply.End?
        var endTime = 0.0
        /// The time at which the server executes the request, or `nil` if the server never executes it.
        var executionTime: Double?

        /// Whether the server may have received the request.
        var wasWritten: Bool {
            switch end {
            case .failure(_, let wasSent): wasSent
            case .silence(let isConnected): isConnected
            case .answer, nil: true
            }
        }

        /// Whether the request ended with a response that shows that the server works.
        var isWell: Bool {
            if case .answer(let status, _) = end { status < 500 } else { false }
        }
    }

    /// The position of a request in the record.
    struct Place: Sendable {
        fileprivate var call: Int
        fileprivate var index: Int
    }

    /// The requests of each call in order.
    private(set) var sendings: [[Sending]]
    /// The number of shadow requests, whose responses no call receives: probes, suspicion probes (the same safe request
    /// to two servers), and warm-up requests.
    private(set) var shadows = 0
    /// The number of shadow requests that were not reads.
    private(set) var writtenShadows = 0
    /// The number of requests, including shadow requests, that were sent to a server that does not serve them.
    private(set) var unsuitable = 0

    init(calls: Int) {
        sendings = Array(repeating: [], count: calls)
    }

    /// The number of requests of all calls.
    var requests: Int { sendings.reduce(0) { $0 + $1.count } }

    /// The number of requests that a server may have received.
    ///
    /// A request on a refused connection is not counted, because it costs the server no work.
    var writtenRequests: Int { sendings.reduce(0) { $0 + $1.count { $0.wasWritten } } }

    /// The number of failovers to which the next server responded with a status below 500.
    var confirmedFailovers: Int { sendings.joined().count { $0.role == .failover && $0.isWell } }

    /// Counts a request that was sent to a server that does not serve it.
    mutating func addUnsuitable() { unsuitable += 1 }

    /// Adds a request and returns its position.
    ///
    /// A shadow request is only counted, and the result is `nil`.
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

    /// Records the end of a request.
    mutating func end(_ place: Place?, _ end: ServerReply.End, at time: Double) {
        guard let place else { return }
        sendings[place.call][place.index].end = end
        sendings[place.call][place.index].endTime = time
    }
}
