import Foundation
import Switchyard
import SwitchyardInspector
import Testing

@testable import yard

@Suite struct OutageReportTests {
    /// A run of 25 calls a second against three servers, which all refuse connections from 4 s to 10 s.
    ///
    /// Each failed call has this number of attempts and this kind of failure.
    private static func outage(attempts: Int = 3, kind: String = "refused") -> TrafficStory {
        story(
            (0..<500).map { place in
                let isDown = (100..<250).contains(place)
                return call(
                    place,
                    server: isDown ? "c" : "a",
                    failure: isDown ? kind : nil,
                    attempts: isDown ? attempts : 1
                )
            }
        )
    }

    private static func call(_ place: Int, server: String, failure: String? = nil, attempts: Int = 1) -> RecordedCall {
        RecordedCall(
            start: MonotonicTime(seconds: 100 + Double(place) / 25),
            wait: .milliseconds(2),
            server: server,
            failure: failure,
            attempts: attempts
        )
    }

    private static func story(_ calls: [RecordedCall], tolerance: Double = 0) -> TrafficStory {
        TrafficStory(
            title: "a test",
            servers: ["a", "b", "c"],
            origin: MonotonicTime(seconds: 100),
            notes: TrafficRecorder.Content(calls: calls.shuffled()),
            tolerance: tolerance
        )
    }

    @Test func `the verdict on a total outage states its length and the number of failed calls`() {
        let verdict = Report(of: Self.outage()).verdict

        #expect(verdict.headline == "All servers were down for 6 s. 150 of 500 calls failed.")
        #expect(verdict.level == .bad)
        #expect(verdict.details == ["Errors: 150 × connection refused."])
    }

    @Test func `a total outage counts as a fault of every server, even if no server is ejected`() {
        let report = Report(of: Self.outage())

        #expect(report.faults.map(\.server) == [0, 1, 2])
        #expect(report.faults.allSatisfy { $0.from == 4 && $0.until == 10 && $0.what == "refused connections" })
        #expect(report.phases.map(\.failures) == [0, 150, 0, 150])
        #expect(report.impacts.map(\.failed) == [150, 150, 150])
        #expect(report.states.filter { $0.server == 0 }.map(\.state) == [.inUse, .failing, .inUse])
        #expect(report.states.filter { $0.server == 1 }.map(\.state) == [.standby, .failing, .standby])
    }

    @Test func `the report shows servers that fail together in one common row and one sentence`() {
        let report = Report(of: Self.outage())

        #expect(
            ImpactRows(report).rows == [
                [
                    "all servers refused connections", "at 4.0 s", "no server left", "150", "150", "0", "2.00 ms", "–",
                    "after 6.0 s",
                ]
            ]
        )
        let lines = VerdictLines(report, columns: .max) { text, _ in text }.lines
        #expect(lines.count { $0.contains("refused connections at 4.0 s") } == 1)
        #expect(
            report.summary == """
                all servers refused connections from 4.0 s on, and no server was left to switch to; the failures at \
                all servers ended at 10.0 s; of 150 calls during the fault, 150 failed, and 99 in 100 ended within \
                2.00 ms (before: 2.00 ms), the slowest after 2.00 ms.
                """
        )
    }

    @Test func `if attempts are known, an outage of all servers is shown only for the servers that received attempts`()
    {
        var story = Self.outage(attempts: 2)
        for call in story.notes.calls.indices where story.notes.calls[call].failure != nil {
            story.notes.calls[call].sent = ["b", "c"].map { RecordedAttempt(server: $0, after: .zero) }
        }

        let report = Report(of: story)

        #expect(report.faults.map(\.server) == [1, 2])
        #expect(ImpactRows(report).rows.map(\.first) == ["b and c refused connections"])
    }

    @Test func `a total outage is listed among the events`() {
        let marks = Report(of: Self.outage()).marks

        #expect(marks.map(\.kind) == [.fault, .fault, .fault, .faultEnd, .faultEnd, .faultEnd])
        #expect(marks.first?.text == "a refused connections, and no server was left to switch to")
        #expect(marks.last?.text == "the failures at c end")
    }

    /// An outage in which the first call after it still failed over from `c`.
    private static func withLateFailover() -> TrafficStory {
        var story = outage(attempts: 2)
        for call in story.notes.calls.indices where story.notes.calls[call].failure != nil {
            story.notes.calls[call].way = .failedOver
            story.notes.calls[call].sent = ["b", "c"].map { RecordedAttempt(server: $0, after: .zero) }
        }
        let late = story.notes.calls.firstIndex { $0.start == MonotonicTime(seconds: 110) }
        guard let late else { return story }
        story.notes.calls[late].way = .failedOver
        story.notes.calls[late].sent = ["c", "a"].map { RecordedAttempt(server: $0, after: .zero) }
        return story
    }

    @Test
    func `the outage of a server lasts until the last call that failed over from the server`() {
        let report = Report(of: Self.withLateFailover())

        #expect(report.faults.map(\.server) == [1, 2])
        #expect(report.faults.map(\.until) == [10, 10.04])
        #expect(report.impacts.map(\.saved) == [0, 1])
        #expect(report.verdict.details.contains { $0.hasPrefix("1 call was saved") })
    }

    @Test func `the outage of a server starts with its first failed-over call, shortly before the first failed call`()
        throws
    {
        var story = Self.outage(attempts: 2)
        for call in story.notes.calls.indices where story.notes.calls[call].failure != nil {
            story.notes.calls[call].sent = ["b", "c"].map { RecordedAttempt(server: $0, after: .zero) }
        }
        let last = try #require(story.notes.calls.firstIndex { $0.start == MonotonicTime(seconds: 103.96) })
        story.notes.calls[last].way = .failedOver
        story.notes.calls[last].sent = ["b", "a"].map { RecordedAttempt(server: $0, after: .zero) }

        let report = Report(of: story)

        #expect(report.faults.map(\.server) == [1, 2])
        #expect(report.faults.map(\.from) == [3.96, 4])
        #expect(report.impacts.map(\.saved) == [1, 0])
    }

    @Test func `the tables of a report count only successful calls as failed over`() {
        let report = Report(of: Self.withLateFailover())

        #expect(report.phases.last?.failedOver == 1)
        #expect(report.totals.map(\.failedOver) == [1, 0, 0])
    }

    @Test func `an outage that has not ended at the end of the run has no end time`() {
        var story = Self.outage()
        story.notes.calls.removeAll { $0.start >= MonotonicTime(seconds: 110) }

        let report = Report(of: story)

        #expect(report.faults.allSatisfy { $0.until == nil })
        #expect(report.verdict.headline == "All servers were down for the last 6 s. 150 of 250 calls failed.")
        #expect(ImpactRows(report).rows.map(\.last) == ["not by the end"])
    }

    /// An outage of all servers after whose first 5.8 s the client takes `b` out of service and uses `a` again.
    private static func withUntriedServer() -> TrafficStory {
        var story = outage()
        let ejection = SwitchEvent.Kind.ejected("b", generation: 1, cause: .score)
        story.notes.events = [SwitchEvent(at: MonotonicTime(seconds: 109.8), ejection, statistics: HealthStatistics())]
        return story
    }

    @Test func `a server that was not tried again after an outage of all servers is not said to be down until the end`()
    {
        let report = Report(of: Self.withUntriedServer())
        let row = ImpactRows(report).rows.first { $0[0] == "b failed" }

        #expect(report.faults.map(\.until) == [10, 10, 10])
        #expect(report.faults.map(\.isUntried) == [nil, true, nil])
        #expect(row?[2] == "no server left" && row?[7] == "–" && row?[8] == "not tried again")
        #expect(report.summary.contains("b was not tried again after 10.0 s"))
        #expect(report.impacts.map(\.calls) == [150, 150, 150])
    }

    @Test func `the report names the successor of a promptly ejected server even if the successor failed soon after`() {
        var story = Self.withUntriedServer()
        let events: [SwitchEvent.Kind] = [
            .ejected("a", generation: 1, cause: .score), .switched(from: "a", to: "b", cause: .score),
        ]
        story.notes.events =
            events.map { SwitchEvent(at: MonotonicTime(seconds: 104.02), $0, statistics: HealthStatistics()) }
            + story.notes.events

        let rows = ImpactRows(Report(of: story)).rows

        #expect(rows.map { $0[2] } == ["after 20 ms", "no server left", "no server left"])
        #expect(rows.map { $0[7] } == ["b", "–", "–"])
    }

    @Test func `a server that fails a probe after an outage of all servers is down until the end`() {
        var story = Self.withUntriedServer()
        let failed = SwitchEvent.Kind.probed("b", succeeded: false)
        story.notes.events.append(SwitchEvent(at: MonotonicTime(seconds: 115), failed))

        let report = Report(of: story)

        #expect(report.faults.map(\.until) == [10, nil, 10])
        #expect(ImpactRows(report).rows.first { $0[0] == "b failed" }?[8] == "not by the end")
    }

    @Test func `the row of a fault is red if calls failed, and amber if only the fault has not ended`() {
        var story = TrafficStory.hang()
        #expect(ImpactRows(Report(of: story)).levels == [.bad])

        story.notes.calls.removeAll { $0.failure != nil }
        #expect(ImpactRows(Report(of: story)).levels == [.good])
        #expect(Report(of: story).verdict.level == .good)

        story.notes.events.removeLast(6)
        #expect(ImpactRows(Report(of: story)).levels == [.ongoing])
        #expect(Report(of: story).verdict.level == .ongoing)
        #expect(ReportText(report: Report(of: story)).html.contains("<tr class=\"is-ongoing\" role=\"row\">"))
    }

    @Test func `only the servers that received the failed calls count as faulty`() {
        let report = Report(of: Self.outage(attempts: 1))

        #expect(report.faults.map(\.server) == [2])
        #expect(report.verdict.headline == "Server c failed and is back. 150 of 500 calls failed.")
    }

    @Test func `a 404 counts as a failure of the call and not as a fault of the server`() {
        let report = Report(of: Self.outage(kind: "http404"))

        #expect(report.faults.isEmpty)
        let headline = "No server failed. 150 of 500 calls failed with a request error: 404 Not Found."
        #expect(report.verdict.headline == headline)
        #expect(report.summary.hasPrefix("Of 500 calls, 150 failed with a request error, the slowest after"))
        #expect(report.phases.map(\.failures) == [150])
        #expect(report.phases.map(\.requestErrors) == [150])
        #expect(report.totals.map(\.answered) == [350, 0, 0])
    }

    @Test func `the row of a fault does not count request errors`() {
        var story = Self.outage()
        let bad = story.notes.calls.firstIndex { $0.start == MonotonicTime(seconds: 106) }
        if let bad { story.notes.calls[bad].failure = "http404" }

        let report = Report(of: story)

        #expect(report.impacts.map(\.failed) == [149, 149, 149])
        #expect(report.phases.map(\.failures) == [0, 150, 0, 150])
        #expect(report.phases.map(\.requestErrors) == [nil, 1, nil, 1])
        #expect(report.summary.contains("150 failed, 1 of them with a request error, and"))
    }

    @Test func `a few failures among many successes do not count as an outage`() {
        let calls = (0..<500).map { Self.call($0, server: "a", failure: $0.isMultiple(of: 100) ? "http503" : nil) }

        let report = Report(of: Self.story(calls, tolerance: 0.01))

        #expect(report.faults.isEmpty)
        #expect(report.verdict.headline == "5 of 500 calls failed: 503 Service Unavailable.")
        #expect(report.verdict.level == .good)
    }

    @Test func `frequent failures between successful calls count as a fault of their server`() {
        let calls = (0..<500).map { place in
            let isBad = (100..<150).contains(place) && place.isMultiple(of: 3)
            return Self.call(place, server: isBad ? "b" : "a", failure: isBad ? "http503" : nil)
        }

        let report = Report(of: Self.story(calls))

        #expect(report.faults.map(\.server) == [1])
        #expect(report.faults.first?.what == "responded with 503")
        #expect(report.verdict.headline == "Server b failed and is back. 16 of 500 calls failed.")
        #expect(report.marks.first?.text == "b responded with 503, and stayed in service")
        #expect(ImpactRows(report).rows.map { $0[2] } == ["no, it stayed in service"])
    }

    @Test func `the report does not count calls that were cancelled at the end of the run`() {
        var story = Self.story((0..<10).map { Self.call($0, server: "a") })
        story.notes.calls.append(Self.call(11, server: "a", failure: "cancelled"))

        let report = Report(of: story)
        #expect(report.verdict.headline == "All 10 calls succeeded.")
        #expect(report.phases.map(\.calls) == [10])
    }
}

@Suite struct VerdictReportTests {
    @Test func `the verdict counts saved calls and compares the run with a client without switching`() {
        let verdict = Report(of: .hang()).verdict

        #expect(verdict.headline == "Server primary failed and is back. 1 of 18 calls failed.")
        #expect(
            verdict.details == [
                "Errors: 1 × no response in time.",
                "5 calls were saved: their first server had failed, but another responded (5 hedged).",
                "Without switching, 7 calls in 2.5 s would have gone to primary while it was faulty.",
            ]
        )
    }

    @Test func `a call that was due shortly before the fault and failed over during it counts as saved`() throws {
        var story = TrafficStory.hang()
        let early = try #require(story.notes.calls.firstIndex { $0.start == MonotonicTime(seconds: 100.9) })
        story.notes.calls[early].way = .failedOver
        story.notes.calls[early].wait = .milliseconds(200)
        story.notes.calls[early].server = "secondary"

        let report = Report(of: story)

        #expect(report.impacts.map(\.saved) == [6])
        #expect(report.saved == SavedCalls(failedOver: 1, hedged: 5))
    }

    @Test func `a hedged call that was due shortly before the fault is saved if it was waiting when the fault began`() {
        var story = TrafficStory.hang()
        for (second, wait) in [(100.85, 200), (100.86, 20)] {
            let start = MonotonicTime(seconds: second)
            let sent = [RecordedAttempt(server: "primary", after: .zero, hasFailed: false)]
            var call = RecordedCall(start: start, wait: .milliseconds(wait), server: "secondary", way: .hedged)
            call.sent = sent
            story.notes.calls.append(call)
        }
        let fault = MonotonicTime(seconds: 101)
        story.notes.faults = [RecordedFault(server: "primary", from: fault, what: "was stopped")]

        #expect(Report(of: story).saved == SavedCalls(hedged: 6))
    }

    @Test func `a hedged call whose first server worked is not saved`() throws {
        var story = TrafficStory.hang()
        for call in story.notes.calls.indices where story.notes.calls[call].way == .hedged {
            let first = story.notes.calls[call].start < MonotonicTime(seconds: 101.15) ? "primary" : "secondary"
            story.notes.calls[call].sent = [RecordedAttempt(server: first, after: .zero, hasFailed: false)]
        }

        let report = Report(of: story)

        #expect(report.calls?.first?.count { $0 == 0 } == 2)
        #expect(report.impacts.map(\.saved) == [2])
        #expect(report.verdict.details.contains { $0.hasPrefix("2 calls were saved") })
    }

    @Test func `the report has a row for each fault with its effect on the calls`() throws {
        let impact = try #require(Report(of: .hang()).impacts.first)

        #expect(impact.noticedAfter == 0.5 && impact.length == 2.5 && impact.backAfter == 4)
        #expect(impact.calls == 7 && impact.failed == 1 && impact.saved == 5)
        #expect(impact.slowest == 2_000 && impact.heir == 1)
    }

    @Test func `the report page shows the verdict, faults, events and numbers even if scripts are disabled`() throws {
        let html = try ReportPage().html(for: Report(of: .hang()))
        let text = try #require(html.range(of: "<script")).lowerBound

        let plain = html[..<text]
        for part in [
            "Server primary failed and is back. 1 of 18 calls failed.", "primary did not respond in time",
            "data-column=\"out of service\">after 500 ms</td>", "calls go to secondary instead of primary",
            "<th scope=\"row\">during</th>",
        ] {
            #expect(plain.contains(part), "\(part)")
        }
    }

    @Test func `a terminal shows the verdict, and wraps long lines between words`() {
        let lines = VerdictLines(Report(of: .hang()), columns: 50) { text, _ in text }.lines

        #expect(lines.prefix(2) == ["✗ Server primary failed and is back. 1 of 18 calls", "  failed."])
        #expect(lines.allSatisfy { $0.columns <= 50 })
        #expect(lines.dropFirst(2).first == "  primary did not respond in time at 1.0 s; out of")
        #expect(lines.dropFirst(3).first?.hasPrefix("    service after 500 ms; calls went to secondary;") == true)
    }

    @Test func `the report distinguishes a return to a recovered server from other switches`() {
        let switches = Report(of: .hang()).marks.filter { $0.kind == .switched }

        #expect(switches.map(\.isReturn) == [nil, true])
    }
}
