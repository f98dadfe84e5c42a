import Switchyard

/// A call that has ended, for a report.
struct NotedCall: Sendable {
    /// When it was due.
    var start: MonotonicTime
    /// How long its caller waited.
    var wait: Duration
    /// The server that answered, or that failed last.
    var server: String?
    /// How it came to its end.
    var way = CallWay.direct
    /// The kind of its failure; `nil` for an answer.
    var failure: String?
}

extension CallWay {
    /// How a call came to its end, as its context tells.
    init(_ context: RequestContext) {
        guard context.attempts > 1 else {
            self = .direct
            return
        }
        // A call that the slow server answered after all, or that nobody did, was hedged all the same.
        self = context.attempt?.role == .failover ? .failedOver : .hedged
    }
}
