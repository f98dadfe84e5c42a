import Foundation
import Switchyard

extension LoadRunner {
    /// The run for a report, from its records and from what happened to the servers.
    func story(_ records: [LoadRecord], _ events: [SwitchEvent]) -> TrafficStory {
        let calls = records.map { record in
            NotedCall(
                start: time(record.due),
                wait: .seconds(record.waited),
                server: record.server,
                way: record.way,
                failure: record.error
            )
        }
        return TrafficStory(
            title: "yard load",
            facts: plan.facts,
            servers: plan.service.servers.map(\.name),
            origin: origin,
            startedAt: Date(timeIntervalSince1970: start),
            notes: TrafficNotes.Content(calls: calls, events: events)
        )
    }

    /// A moment on the wall on the clock of the client.
    private func time(_ moment: Double) -> MonotonicTime { origin.advanced(by: .seconds(moment - start)) }
}

extension LoadPlan {
    /// What was to be done, for the heading of a report.
    fileprivate var facts: [Report.Fact] {
        [
            Report.Fact(name: "service", value: "\(service.name), \(environment)"),
            Report.Fact(name: "policy", value: service.switching.name),
            Report.Fact(name: "calls", value: "\(method) \(path)"),
            rate > 0 ? Report.Fact(name: "open loop", value: "\(rate.plain) per second") : nil,
            concurrency > 0
                ? Report.Fact(name: "closed loop", value: "\(concurrency) callers, \(think.plain) s apart") : nil,
            timeout.map { Report.Fact(name: "deadline", value: $0.figure) },
        ].compactMap(\.self)
    }
}

extension Double {
    /// The number without a fraction that says nothing: `60`, `0.05`.
    fileprivate var plain: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}
