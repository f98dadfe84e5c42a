package import SwitchyardServices

extension SwitchEvent {
    /// The event and its cause in one sentence without a full stop.
    package var sentence: String {
        switch kind {
        case .switched(let from, let to, let cause):
            return "calls go to \(to) instead of \(from), because \(cause.why(from: from, to: to))"
        case .ejected(let server, _, let cause):
            let why = (cause.ownWhy ?? cause.why(from: server, to: server)) + statistics.evidence(for: cause)
            return "\(server) is taken out of service, because \(why)"
        case .probed(let server, let succeeded):
            return "\(server) \(succeeded ? "responds to a probe" : "fails a probe")"
        case .trialStarted(let server, let pause):
            let when = pause == .zero ? "now" : "in \(VerdictText.milliseconds(pause.inSeconds * 1_000))"
            return "\(server) has responded to its probes and receives a few calls \(when)"
        case .recovered(let server, let outage):
            return "\(server) is in service again after \(VerdictText.milliseconds(outage.inSeconds * 1_000))"
        case .environmentChanged(let from, let to):
            return "the client changes from environment \(from) to \(to)"
        case .pushed: return "\(kind)"
        }
    }
}

extension HealthStatistics {
    /// Returns a description of the statistics that led to an ejection (the removal of a server from use for a time).
    ///
    /// The numbers of requests are named only if they are the cause. These numbers leave out failures that do not count
    /// against the server, such as failures while all servers fail.
    fileprivate func evidence(for cause: SwitchCause) -> String {
        guard failures > 0 else { return "" }
        let last = lastFailure.map { "the last time, it \($0.deed)" }
        let counts = cause == .errorRatio ? "\(failures) of the last \(requests) requests failed" : nil
        let parts = [counts, last].compactMap(\.self)
        return parts.isEmpty ? "" : ": \(parts.joined(separator: ", and "))"
    }
}

extension SwitchCause {
    /// The cause of an ejection as a part of a sentence whose subject is the server, or `nil` if the server did not
    /// cause it.
    ///
    /// An ejection takes a server out of use for a time.
    fileprivate var ownWhy: String? {
        switch self {
        case .errorRatio: "too many of its requests failed"
        case .score: "requests to it failed"
        case .lateness: "it was late significantly more often than the others"
        case .consecutiveFailures: "it had too many consecutive failures"
        case .trialFailed: "it failed a trial call"
        case .recovered, .requested, .pushed, .pushEnded, .listReplaced, .reset, .restored: nil
        }
    }

    /// Returns the cause as the end of a sentence that starts with "because".
    package func why(from: String, to: String) -> String {
        switch self {
        case .errorRatio: "too many of the requests to \(from) failed"
        case .score: "requests to \(from) failed"
        case .lateness: "\(from) was late significantly more often than the others"
        case .consecutiveFailures: "\(from) had too many consecutive failures"
        case .trialFailed: "\(from) failed a trial call"
        case .recovered: "\(to) has recovered and is preferred"
        case .requested: "the app requested the switch"
        case .pushed: "a pushed command requested the switch"
        case .pushEnded: "a pushed command has ended"
        case .listReplaced: "the list of servers was replaced"
        case .reset: "the health of all servers was reset"
        case .restored: "the stored health of the servers was restored"
        }
    }
}
