import Foundation
import Switchyard
import SwitchyardInspector
import Testing

@testable import yard

/// A run whose first server is healthy but is taken out of service because it was slower than the others.
@Suite struct SlowServerReportTests {
    private static let story: TrafficStory = {
        var story = TrafficStory.hang()
        story.notes.calls.removeAll { $0.failure != nil }
        story.notes.events.removeAll { $0.kind == .probed("primary", succeeded: false) }
        for event in story.notes.events.indices {
            story.notes.events[event].statistics = HealthStatistics(requests: 16, lastFailure: .overtaken)
        }
        return story
    }()
    private let report = Report(of: story)

    @Test func `the verdict calls a server slow, not failed, if its responses were late and its probes succeeded`() {
        #expect(report.verdict.headline == "Server primary was slow. All 17 calls succeeded.")
        #expect(report.verdict.level == .good)
    }

    @Test func `the report does not compare the time of a slow server with a client without switching`() {
        #expect(!report.verdict.details.contains { $0.contains("Without switching") })
    }

    @Test func `calls that were hedged because a server was slow do not count as saved`() {
        #expect(report.impacts.map(\.saved) == [0])
        #expect(report.verdict.details.isEmpty)
    }

    @Test func `a call that left a slow server before the server failed does not count as saved`() throws {
        var story = Self.story
        let call = try #require(story.notes.calls.firstIndex { $0.way == .hedged })
        story.notes.calls[call].way = .failedOver
        story.notes.calls[call].sent = [RecordedAttempt(server: "primary", after: .zero, hasFailed: false)]
        #expect(Report(of: story).saved == SavedCalls())

        story.notes.calls[call].sent[0].hasFailed = true

        #expect(Report(of: story).saved == SavedCalls(failedOver: 1))
    }

    @Test func `a second outage of a server does not start before the end of the first one`() {
        var story = TrafficStory.hang()
        let again = MonotonicTime(seconds: 105.6)
        story.notes.events.append(SwitchEvent(at: again, .ejected("primary", generation: 2, cause: .lateness)))
        story.notes.calls.append(
            RecordedCall(
                start: MonotonicTime(seconds: 105.4),
                wait: .milliseconds(9),
                server: "secondary",
                way: .hedged,
                attempts: 2,
                sent: [RecordedAttempt(server: "primary", after: .zero)]
            )
        )
        for second in [102.5, 104, 105] {
            story.notes.calls.append(
                RecordedCall(start: MonotonicTime(seconds: second), wait: .milliseconds(9), server: "x", way: .hedged)
            )
        }

        #expect(Report(of: story).faults.map(\.from) == [1, 4])
    }

    @Test func `the rows, events and states of the report do not say that a slow server failed`() {
        #expect(ImpactRows(report).rows.map(\.first) == ["primary was slower than the others"])
        #expect(
            report.summary.hasPrefix("primary was slower than the others from 1.0 s on, and 500 ms later calls went")
        )
        #expect(report.states.filter { $0.server == 0 }.map(\.state) == [.inUse, .out, .probing, .inUse])
    }

    @Test func `the report does not say that a slow server failed if it is out of service at the end of the run`() {
        var story = Self.story
        story.notes.events.removeAll { $0.at > MonotonicTime(seconds: 101.5) }

        let report = Report(of: story)

        #expect(ImpactRows(report).rows.map(\.last) == ["not by the end"])
        #expect(report.summary.contains("primary was still out of service at the end"))
        let headline = "Server primary was slow and had not recovered by the end. All 17 calls succeeded."
        #expect(report.verdict.headline == headline)
        #expect(report.verdict.level == .ongoing)
    }

    @Test func `the report says that a slow server failed if a probe fails`() {
        var story = Self.story
        story.notes.events.append(
            SwitchEvent(at: MonotonicTime(seconds: 102), .probed("primary", succeeded: false))
        )
        story.notes.events.sort { $0.at < $1.at }

        let report = Report(of: story)

        #expect(report.verdict.headline == "Server primary failed and is back. All 17 calls succeeded.")
        #expect(ImpactRows(report).rows.map(\.first) == ["primary did not respond in time"])
    }

    @Test func `the report says that a slow server failed if a fault was injected into it`() {
        var story = Self.story
        let start = MonotonicTime(seconds: 101)
        story.notes.faults = [RecordedFault(server: "primary", from: start, what: "was stopped")]

        let headline = "Server primary failed and had not recovered by the end. All 17 calls succeeded."
        #expect(Report(of: story).verdict.headline == headline)
    }
}
