import Switchyard

/// A request in progress.
struct FleetRequest: Sendable {
    /// The state of a request that waits for the failover budget: the failure of its last attempt, and the start of the
    /// wait.
    struct Held: Sendable {
        var kind: FailureKind?
        var since: MonotonicTime
    }

    /// The maximum number of attempts of a request: one per server.
    static let attempts = FleetClients.servers.count

    /// The client that sends the request.
    var client: UInt32
    /// The client's previous request that is still in progress, as the next element of a linked list.
    var older = FleetClients.noRequest
    /// The number of queued events for this request.
    ///
    /// The slot of an ended request is used again when this number is 0.
    var pendingEvents: UInt16 = 0
    /// The number of attempts so far.
    var count: UInt8 = 0
    /// The number of attempts that wait for a response.
    var live: UInt8 = 0
    /// Whether the request has ended.
    var hasEnded = false
    /// The start time.
    var startedAt: MonotonicTime
    /// The wait for the failover budget, or `nil` if the request does not wait.
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

        /// One word for the kind of failure, the same as in the output of `yard load`.
        var word: String {
            switch self {
            case .rejected: "http503"
            case .refused: "refused"
            case .reset: "reset"
            case .silent, .answered: "timeout"
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

    /// The attempt as the client's switching core knows it.
    var attempt: Attempt
    /// The client that sends the attempt.
    var client: UInt32
    /// The result of the attempt.
    ///
    /// The client does not know it until ``isOver`` is `true`.
    var end: End
    /// Whether the client knows the result.
    var isOver = false
    /// The work of the server for the attempt, in units of one request.
    var cost: Double
    /// The position of the attempt in the server's queue.
    var place: Double
}
