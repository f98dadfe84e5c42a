import Foundation
import Switchyard
import Testing

@testable import yard

@Suite struct TrafficReportTests {
    private let report = Report(of: .hang())

    private func phase(_ name: ReportPhase.Name) throws -> ReportPhase {
        try #require(report.phases.first { $0.name == name })
    }

    @Test func `the report of a run names its format, version and kind`() throws {
        let object = try #require(try JSONValue(parsing: Data(report.json().utf8)).object)

        #expect(object["format"] == .string("switchyard-report"))
        #expect(object["version"]?.int == 1)
        #expect(object["kind"] == .string("calls"))
    }

    @Test func `the report of a run can be decoded from its JSON`() throws {
        #expect(try JSONDecoder().decode(Report.self, from: Data(report.json().utf8)) == report)
    }

    @Test func `the calls in the report are in the order in which they were due`() throws {
        let calls = try #require(report.calls)

        #expect(calls.start == calls.start.sorted())
        #expect(calls.start.count == 18)
        #expect(calls.start.first == 0)
        #expect(calls.start.last == 5.5)
        #expect(calls.wait.prefix(3) == [1, 2, 3])
    }

    @Test func `the report distinguishes hedged calls, failed calls and plain calls`() throws {
        let calls = try #require(report.calls)

        #expect(calls.way.count { $0 == CallWay.hedged.rawValue } == 5)
        #expect(calls.failures == ["timeout"])
        #expect(calls.failure.count { $0 == 1 } == 1)
        #expect(calls.failure.count { $0 == 0 } == 17)
    }

    @Test func `a fault in the report lasts from the first diverted call to the first successful probe`() {
        let fault = ReportFault(server: 0, from: 1, until: 3.5, what: "did not respond in time", isKnown: false)
        #expect(report.faults == [fault])
    }

    @Test func `the numbers before, during and after a fault count the calls that were due in these phases`() throws {
        #expect(try phase(.before).calls == 10)
        #expect(try phase(.during).calls == 7)
        #expect(try phase(.during).failures == 1)
        #expect(try phase(.during).hedged == 5)
        #expect(try phase(.after).calls == 1)
        #expect(try phase(.all).calls == 18)
    }

    @Test func `quantiles of the response times in the report use the nearest rank`() throws {
        let before = try phase(.before)

        #expect(before.p50 == 5)
        #expect(before.p90 == 9)
        #expect(before.p99 == 10)
        #expect(before.max == 10)
        #expect(try phase(.during).max == 2_000)
    }

    @Test func `every event in the report has a mark and its reason in words`() throws {
        let switches = report.marks.filter { $0.kind == .switched }
        let ejected = try #require(report.marks.first { $0.kind == .ejected })

        #expect(report.marks.count == 8)
        #expect(switches.map(\.at) == [1.5, 5])
        #expect(switches.map(\.to) == [1, 0])
        #expect(switches.last?.text.hasSuffix("because primary has recovered and is preferred") == true)
        #expect(ejected.text.contains("because it was late significantly more often than the others"))
        #expect(ejected.text.hasSuffix(": the last time, it did not respond in time"))
    }

    @Test func `the report marks failed probes as bad and successful probes as good`() {
        #expect(report.marks.filter { $0.kind == .probe }.map(\.isGood) == [false, true, true])
    }

    @Test func `the states of a server in the report follow each other without a gap`() {
        let own = report.states.filter { $0.server == 0 }

        #expect(own.map(\.state) == [.inUse, .failing, .out, .probing, .inUse])
        #expect(own.map(\.from) == [0, 1, 1.5, 3.5, 5])
        #expect(own.map(\.until) == [1, 1.5, 3.5, 5, report.duration])
    }

    @Test func `a second server that takes over is reported as standby, then in use, then standby again`() {
        #expect(report.states.filter { $0.server == 1 }.map(\.state) == [.standby, .inUse, .standby])
    }

    @Test func `the rates in the report count every call once`() throws {
        let rates = try #require(report.rates)

        #expect(rates.step == 0.25)
        #expect(rates.failed.reduce(0, +) == 1)
        #expect(rates.answered.map { $0.reduce(0, +) } == [11, 6])
        #expect(rates.answered[1][4..<6].reduce(0, +) == 5)
    }

    @Test func `an attempt counts for its server in the time step in which the attempt was sent`() throws {
        var story = TrafficStory.hang()
        let hedged = try #require(story.notes.calls.firstIndex { $0.way == .hedged })
        story.notes.calls[hedged].start = MonotonicTime(seconds: 101)
        story.notes.calls[hedged].sent = [
            RecordedAttempt(server: "primary", after: .zero),
            RecordedAttempt(server: "secondary", after: .milliseconds(300)),
            RecordedAttempt(server: nil, after: .zero),
        ]

        let sent = try #require(Report(of: story).rates?.sent)

        #expect(sent.map { $0.reduce(0, +) } == [1, 1])
        #expect(sent[0][4] == 1 && sent[1][5] == 1)
    }

    @Test func `a report of calls whose attempts are unknown has no attempts`() {
        #expect(report.rates?.sent == nil)
    }

    @Test func `the summary describes faults and recoveries in order of time`() throws {
        var story = TrafficStory.hang()
        story.servers = ["primary", "secondary", "tertiary"]
        let events: [(Double, SwitchEvent.Kind)] = [
            (2, .ejected("tertiary", generation: 1, cause: .lateness)),
            (3, .probed("tertiary", succeeded: true)),
            (3, .recovered("tertiary", outage: .seconds(1))),
        ]
        story.notes.events += events.map { second, kind in
            SwitchEvent(at: MonotonicTime(seconds: 100 + second), kind, statistics: HealthStatistics())
        }
        story.notes.events.sort { $0.at < $1.at }

        let summary = Report(of: story).summary

        let places = [
            "primary did not", "tertiary was slower", "tertiary had visibly recovered", "primary had visibly",
        ]
        .map { summary.range(of: $0)?.lowerBound }
        let found = places.compactMap(\.self)
        #expect(found.count == 4)
        #expect(found == found.sorted())
    }

    @Test func `the report contains the fraction of responses that each server sent`() {
        #expect(report.totals.map(\.answered) == [11, 6])
        #expect(report.totals.map(\.share) == [0.6471, 0.3529])
        #expect(report.totals.map(\.hedged) == [0, 5])
    }

    @Test
    func `the summary describes the fault, its effect, the reason for the switch and the recovery in one sentence`() {
        #expect(
            report.summary == """
                primary did not respond in time from 1.0 s on, and 500 ms later calls went to secondary, because primary \
                was late significantly more often than the others; primary had visibly recovered at 3.5 s and received \
                its calls again at 5.0 s; of 7 calls during the fault, 1 failed, and the slowest took 2.0 s.
                """
        )
    }

    @Test func `the report of a run without faults has one phase and a summary that reports no fault`() {
        let report = Report(of: .calm)

        #expect(report.phases.map(\.name) == [.all])
        #expect(report.faults.isEmpty)
        let sentence = "All 10 calls succeeded, the slowest after 10 ms, and no server was taken out of service."
        #expect(report.summary == sentence)
    }

    @Test func `a fault that was injected on purpose is reported with its known times`() {
        var story = TrafficStory.hang()
        let begin = MonotonicTime(seconds: 100.9)
        let fault = RecordedFault(
            server: "primary",
            from: begin,
            until: MonotonicTime(seconds: 103),
            what: "was stopped"
        )
        story.notes.faults = [fault]

        let report = Report(of: story)

        #expect(report.faults == [ReportFault(server: 0, from: 0.9, until: 3, what: "was stopped", isKnown: true)])
        #expect(report.marks.first?.text == "primary was stopped")
        #expect(report.summary.hasPrefix("primary was stopped at 0.9 s, and 600 ms later"))
    }

    @Test func `the summary reports if a server did not recover`() {
        var story = TrafficStory.hang()
        story.notes.events.removeLast(6)

        let report = Report(of: story)

        #expect(report.faults.map(\.until) == [nil])
        #expect(report.summary.contains("; primary was still out of service at the end; of 8 calls during the fault,"))
    }

    @Test func `a run without calls still has a report`() throws {
        var story = TrafficStory.hang()
        story.notes = TrafficRecorder.Content()

        let report = Report(of: story)

        #expect(report.phases.map(\.calls) == [0])
        #expect(try report.json().contains(#""calls":{"failure":[]"#))
    }

    @Test func `the report of a load run of an hour has time steps of a minute`() throws {
        var story = TrafficStory.calm
        let late = RecordedCall(start: MonotonicTime(seconds: 3_700), wait: .milliseconds(1), server: "secondary")
        story.notes.calls.append(late)

        let rates = try #require(Report(of: story).rates)

        #expect(rates.step == 60)
        #expect(rates.failed.count == 61)
        #expect(rates.answered[1].last == 1)
    }
}
