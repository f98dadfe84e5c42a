import Switchyard
import SwitchyardInspector

extension TrafficStory {
    /// Returns the events of the servers in order, with descriptions, and the start and the end of each outage without
    /// an ejection.
    func marks(with outages: [Outage]) -> [ReportMark] {
        let failing = outages.filter { $0.ejectedAt == nil }.flatMap { outage in
            let name = servers[outage.server]
            let text = "\(name) \(outage.what), and was not taken out of service"
            return [
                ReportMark(at: outage.from, kind: .fault, server: outage.server, text: text),
                outage.until.map {
                    ReportMark(at: $0, kind: .faultEnd, server: outage.server, text: "\(name) responds again")
                },
            ].compactMap(\.self)
        }
        let faults = notes.faults.flatMap { fault in
            [
                mark(fault.from, .fault, fault.server, "\(fault.server) \(fault.what)"),
                fault.until.map { mark($0, .faultEnd, fault.server, "\(fault.server) works again") },
            ]
        }
        return (failing + faults.compactMap(\.self) + notes.events.map(mark)).sorted { $0.at < $1.at }
    }

    private func mark(_ time: MonotonicTime, _ kind: ReportMark.Kind, _ server: String, _ text: String) -> ReportMark {
        ReportMark(at: second(time), kind: kind, server: place(server), text: text)
    }

    private func mark(_ event: SwitchEvent) -> ReportMark {
        let at = event.at
        switch event.kind {
        case .switched(let from, let to, let cause):
            let why = cause.why(from: from, to: to)
            var mark = mark(at, .switched, from, "calls go to \(to) instead of \(from), because \(why)")
            mark.to = place(to)
            if cause == .recovered { mark.isReturn = true }
            return mark
        case .ejected(let server, _, let cause):
            let why = (cause.ownWhy ?? cause.why(from: server, to: server)) + event.statistics.evidence
            return mark(at, .ejected, server, "\(server) is taken out of service, because \(why)")
        case .probed(let server, let succeeded):
            var mark = mark(at, .probe, server, "\(server) \(succeeded ? "responds to a probe" : "fails a probe")")
            mark.isGood = succeeded
            return mark
        case .trialStarted(let server, let pause):
            let when = pause == .zero ? "now" : "in \(pause.figure)"
            return mark(at, .trial, server, "\(server) has responded to its probes and receives a few calls \(when)")
        case .recovered(let server, let outage):
            return mark(at, .recovered, server, "\(server) is in service again after \(outage.figure)")
        case .environmentChanged(let from, let to):
            return mark(at, .note, "", "the client changes from environment \(from) to \(to)")
        case .pushed:
            return mark(at, .note, "", "\(event.kind)")
        }
    }
}

extension HealthStatistics {
    /// A description of the statistics of the server that led to its ejection.
    fileprivate var evidence: String {
        guard failures > 0 else { return "" }
        let last = lastFailure.map { ", and the last time it \($0.deed)" } ?? ""
        return ": \(failures) of \(requests) requests failed\(last)"
    }
}

extension SwitchCause {
    /// The cause of an ejection as a part of a sentence whose subject is the server, or `nil` if the server did not
    /// cause it.
    fileprivate var ownWhy: String? {
        switch self {
        case .errorRatio: "too many of its requests failed"
        case .score: "its failure score was too high"
        case .lateness: "it was late significantly more often than the others"
        case .consecutiveFailures: "it had too many consecutive failures"
        case .trialFailed: "it failed a trial call"
        case .recovered, .requested, .pushed, .pushEnded, .listReplaced, .reset, .restored: nil
        }
    }

    /// Returns the cause as the end of a sentence that starts with "because".
    func why(from: String, to: String) -> String {
        switch self {
        case .errorRatio: "too many of the requests to \(from) failed"
        case .score: "the failure score of \(from) was too high"
        case .lateness: "\(from) was late significantly more often than the others"
        case .consecutiveFailures: "\(from) had too many consecutive failures"
        case .trialFailed: "\(from) failed a trial call"
        case .recovered: "\(to) has recovered and is preferred"
        case .requested: "the app requested the switch"
        case .pushed: "a pushed command requested the switch"
        case .pushEnded: "a pushed command has ended"
        case .listReplaced: "the list of servers was replaced"
        case .reset: "the health of all servers was reset"
        case .restored: "stored health was restored"
        }
    }
}
