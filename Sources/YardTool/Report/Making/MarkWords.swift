import Switchyard
import SwitchyardInspector

extension TrafficStory {
    /// Returns the events of the servers in order, with descriptions, and the start and the end of each outage without
    /// an ejection.
    func marks(with outages: [Outage]) -> [ReportMark] {
        let all = outages.map(\.fault)
        let failing = outages.filter { $0.ejectedAt == nil }.flatMap { outage in
            let name = servers[outage.server]
            let text = "\(name) \(outage.what)\(all.ending(ofServers: servers.count, at: outage.from))"
            return [
                ReportMark(at: outage.from, kind: .fault, server: outage.server, text: text),
                outage.until.map {
                    ReportMark(at: $0, kind: .faultEnd, server: outage.server, text: "the failures at \(name) end")
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
        let (at, text) = (event.at, event.sentence)
        switch event.kind {
        case .switched(let from, let to, let cause):
            var mark = mark(at, .switched, from, text)
            mark.to = place(to)
            if cause == .recovered { mark.isReturn = true }
            return mark
        case .ejected(let server, _, _): return mark(at, .ejected, server, text)
        case .probed(let server, let succeeded):
            var mark = mark(at, .probe, server, text)
            mark.isGood = succeeded
            return mark
        case .trialStarted(let server, _): return mark(at, .trial, server, text)
        case .recovered(let server, _): return mark(at, .recovered, server, text)
        case .environmentChanged, .pushed: return mark(at, .note, "", text)
        }
    }
}
