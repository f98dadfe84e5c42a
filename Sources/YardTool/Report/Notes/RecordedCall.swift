import Switchyard

/// A call that has ended, recorded for a report.
struct RecordedCall: Sendable {
    /// The time at which the call was due.
    var start: MonotonicTime
    /// The time that the caller waited.
    var wait: Duration
    /// The server that responded or failed last.
    var server: String?
    /// The way in which the call was completed.
    var way = CallWay.direct
    /// The kind of failure, or `nil` for a response.
    var failure: String?
}

extension CallWay {
    /// Determines the way in which a call was completed from its context.
    init(_ context: RequestContext) {
        guard context.attempts > 1 else {
            self = .direct
            return
        }
        // A call also counts as hedged if the slow server or no server responded in the end.
        self = context.attempt?.role == .failover ? .failedOver : .hedged
    }
}
