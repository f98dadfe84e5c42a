import Switchyard

/// A request in flight.
struct FleetRequest: Sendable {
    /// The failure of the last attempt of a request that waits for a token, and the start of the wait.
    struct Held: Sendable {
        var kind: FailureKind?
        var since: MonotonicTime
    }

    /// The maximum number of attempts of a request: one per server.
    static let attempts = FleetClients.servers.count

    /// The client of the request.
    var client: UInt32
    /// The client's previous request in flight, which is the next element of a linked list.
    var older = FleetClients.noRequest
    /// The number of pending events for this request; its slot is reused when none is left.
    var pendingEvents: UInt16 = 0
    /// The number of attempts so far.
    var count: UInt8 = 0
    /// The number of attempts that wait for a response.
    var live: UInt8 = 0
    /// Whether the request has ended.
    var hasEnded = false
    /// The start time.
    var startedAt: MonotonicTime
    /// The wait for a token, or `nil` if the request does not wait.
    var held: Held?
    /// The time at which the timer fires.
    var timerAt = MonotonicTime.zero

    /// The deadline of the request.
    var deadline: MonotonicTime { startedAt.advanced(by: FleetPlan.deadline) }
}

/// One attempt of a request, or a probe.
struct FleetAttempt: Sendable {
    /// The result of an attempt.
    enum End: UInt8, Sendable {
        case answered, rejected, refused, reset, silent

        /// Returns the outcome that is reported to the client after this time.
        func outcome(after latency: Duration) -> AttemptOutcome {
            switch self {
            case .answered: .success(latency: latency)
            case .rejected: .failure(.http(503))
            case .refused: .failure(.refused)
            case .reset: .failure(.reset)
            case .silent: .failure(.timeout)
            }
        }

        /// The kind of failure, or `nil` for a response.
        var failure: FailureKind? {
            switch self {
            case .answered: nil
            case .rejected: .http(503)
            case .refused: .refused
            case .reset: .reset
            case .silent: .timeout
            }
        }
    }

    /// The attempt of the switching core.
    var attempt: Attempt
    /// The client of the attempt.
    var client: UInt32
    /// The result, which the client does not know before ``isOver`` is `true`.
    var end: End
    /// Whether the client knows the result.
    var isOver = false
    /// The server's work for the attempt.
    var cost: Double
    /// The position in the server's queue.
    var place: Double
}
