import Switchyard
import SwitchyardInspector

/// A call that has ended, recorded for a report.
struct RecordedCall: Sendable {
    /// The time at which the call was due on the client's clock.
    var start: MonotonicTime
    /// The time from the moment at which the call was due until it ended.
    var wait: Duration
    /// The server that responded.
    ///
    /// If the call failed, the server that failed last.
    var server: String?
    /// Whether one server received the request, or the call was hedged (sent to a second server because the first was
    /// slow) or failed over.
    var way = CallWay.direct
    /// The kind of failure, such as `refused` or `http404`, or `nil` if the call received a response with a status
    /// below 400.
    var failure: String?
    /// The number of attempts that were sent.
    var attempts = 1
    /// The servers to which the attempts were sent, with the times at which they were sent, or an empty array if they
    /// are unknown.
    var sent: [RecordedAttempt] = []
    /// The reason why a failed call was not sent to another server, such as `must not be sent again`, or `nil` if there
    /// is no such reason.
    var obstacle: String?
}

/// An attempt of a call, recorded for a report.
struct RecordedAttempt: Sendable {
    var server: String?
    /// The time from the moment at which the call was due until the attempt was sent.
    var after: Duration
    /// Whether the attempt failed.
    ///
    /// If `false`, it succeeded or was cancelled.
    var hasFailed = true
}

extension RecordedAttempt {
    /// Returns the attempts of a call.
    static func all(_ attempts: [CallAttempt]) -> [RecordedAttempt] {
        attempts.map { RecordedAttempt(server: $0.server, after: $0.start, hasFailed: $0.ending.isFailure) }
    }
}

extension CallAttempt.Ending {
    /// Whether the server failed the attempt.
    fileprivate var isFailure: Bool {
        switch self {
        case .response(let status, _): status >= 500
        case .failure: true
        case .cancelled: false
        }
    }
}

extension [CallAttempt] {
    /// The reason why the last attempt was not followed by a failover, or `nil` if there is no such reason.
    var obstacle: String? {
        guard case .stopped(let reason) = last?.next else { return nil }
        return "\(reason)"
    }
}

extension String {
    /// Whether a failure of this kind is the fault of a server, and not of the app or of a limit.
    var blamesServer: Bool { VerdictText.blamesServer(self) }
}

extension CallWay {
    /// Determines from the context of a call whether it was hedged or failed over.
    init(_ context: RequestContext) {
        guard context.attempts > 1 else {
            self = .direct
            return
        }
        // The call was hedged even if the first, slow server responded before the second server, or if no server
        // responded.
        self = context.attempt?.role == .failover ? .failedOver : .hedged
    }
}
