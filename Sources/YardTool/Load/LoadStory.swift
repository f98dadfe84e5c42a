import Foundation
import Switchyard

extension LoadRunner {
    /// Returns the data of the report (``TrafficStory``) from the recorded requests and server events.
    ///
    /// `thresholds` contains the maximum share of failed calls with which the run is good, and the wait that the report
    /// marks with a line.
    func story(
        _ records: [LoadRecord],
        _ events: [SwitchEvent],
        _ thresholds: LoadThresholds = LoadThresholds()
    ) -> TrafficStory {
        let calls = records.map { record in
            RecordedCall(
                start: time(record.due),
                wait: .seconds(record.waited),
                server: record.server,
                way: record.way,
                failure: record.error,
                attempts: record.attempts,
                sent: record.sent,
                obstacle: record.obstacle
            )
        }
        return TrafficStory(
            title: "yard load",
            facts: plan.facts,
            servers: plan.service.servers(in: plan.environment).map(\.name),
            origin: origin,
            startedAt: Date(timeIntervalSince1970: start),
            notes: TrafficRecorder.Content(calls: calls, events: events),
            tolerance: thresholds.failureShare,
            limits: [
                thresholds.p99.map { ReportLimit(name: "limit for 99 % of the calls", wait: $0) },
                plan.timeout.map { ReportLimit(name: ReportLimit.deadline, wait: $0 / .milliseconds(1)) },
            ].compactMap(\.self)
        )
    }

    /// Converts a wall-clock time to the client's clock.
    private func time(_ moment: Double) -> MonotonicTime { origin.advanced(by: .seconds(moment - start)) }
}

extension LoadPlan {
    /// The settings of the run, for the heading of a report.
    fileprivate var facts: [Report.Fact] {
        [
            Report.Fact(name: "service", value: "\(service.name), \(environment)"),
            Report.Fact(name: "policy", value: service.switching.name),
            Report.Fact(name: "calls", value: "\(method) \(path)"),
            rate > 0 ? Report.Fact(name: "rate", value: "\(rate.plain) calls per second") : nil,
            concurrency > 0
                ? Report.Fact(
                    name: "callers",
                    value: "\(concurrency), each with a pause of \(think.plain) s between two calls"
                ) : nil,
            timeout.map { Report.Fact(name: "deadline", value: $0.figure) },
        ].compactMap(\.self)
    }
}

extension Double {
    /// The number without an unnecessary fraction: `60`, `0.05`.
    fileprivate var plain: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}
