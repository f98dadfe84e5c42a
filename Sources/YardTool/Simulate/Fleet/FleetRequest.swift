import Switchyard

/// A request under way.
struct FleetRequest: Sendable {
    /// How the last attempt of a request failed that waits for a token, and since when it waits.
    struct Held: Sendable {
        var kind: FailureKind?
        var since: MonotonicTime
    }

    /// The most attempts of a request: one per server.
    static let attempts = FleetClients.servers.count

    /// Whose it is.
    var client: UInt32
    /// The client's request before it that is under way, the rest of a list.
    var older = FleetClients.noRequest
    /// The events that will name it; its place is free for another request when none is left.
    var pendingEvents: UInt16 = 0
    /// The attempts so far.
    var count: UInt8 = 0
    /// The attempts that wait for their answers.
    var live: UInt8 = 0
    /// Whether it has ended.
    var hasEnded = false
    /// When it started.
    var startedAt: MonotonicTime
    /// Why it waits for a token; `nil` while it does not.
    var held: Held?
    /// When its timer rings.
    var timerAt = MonotonicTime.zero

    /// When its sender gives up.
    var deadline: MonotonicTime { startedAt.advanced(by: FleetPlan.deadline) }
}

/// One sending of a request, or a probe.
struct FleetAttempt: Sendable {
    /// How it ends.
    enum End: UInt8, Sendable {
        case answered, rejected, refused, reset, silent

        /// What the client is told after this time.
        func outcome(after latency: Duration) -> AttemptOutcome {
            switch self {
            case .answered: .success(latency: latency)
            case .rejected: .failure(.http(503))
            case .refused: .failure(.refused)
            case .reset: .failure(.reset)
            case .silent: .failure(.timeout)
            }
        }

        /// The kind of failure; `nil` for an answer.
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

    /// The attempt as the switching core knows it.
    var attempt: Attempt
    /// Whose it is.
    var client: UInt32
    /// How it ends, which its sender does not know before it ``isOver``.
    var end: End
    /// Whether the sender knows.
    var isOver = false
    /// The server's work for it.
    var cost: Double
    /// Its place in the server's queue.
    var place: Double
}
