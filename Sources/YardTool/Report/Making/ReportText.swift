import Foundation
import SwitchyardInspector

/// The part of a report page that is plain HTML, so that the page can be read without scripts.
struct ReportText {
    let report: Report

    /// The heading, the verdict, the effects of the faults, the events and the numbers.
    var html: String {
        let start = report.startedAt.map { ["start: \(Date(timeIntervalSince1970: $0).formatted(.iso8601))"] } ?? []
        let facts = (report.facts.map { "\($0.name): \($0.value)" } + start).map { "<li>\(HTMLText.escaped($0))</li>" }
        return """
            <header>
            <h1>\(HTMLText.escaped(report.title))</h1>
            \(report.verdict.html)
            \(impacts)
            </header>
            <section id="lanes"></section>
            <p class="summary">\(HTMLText.escaped(report.summary))</p>
            <ul class="facts quiet">\(facts.joined())</ul>
            <section id="figures"></section>
            <section id="events">
            <h2>What happened</h2>
            \(events)
            </section>
            <section id="numbers">
            <h2>Numbers</h2>
            \(phases)
            \(failures)
            </section>
            """
    }

    private var impacts: String {
        guard !report.impacts.isEmpty else { return "" }
        let columns = [
            "fault", "start", "out of service", "calls", "failed", "saved", "slowest", "calls went to", "back",
        ]
        let isOverlap = report.sharedImpacts.reduce(0) { $0 + $1.impact.calls } > report.calls(in: .during)
        let title =
            "Faults, and all calls that were due while a fault lasted; \"after\" counts from the start of the fault"
            + (isOverlap ? " (faults overlap, so a call can count for several)" : "")
        let rows = ImpactRows(report)
        return HTMLTable(title, columns, rows.rows, isStacked: true, levels: rows.levels).html
    }

    private var phases: String {
        let isFleet = report.kind == .fleet
        let hasErrors = report.phases.contains { $0.requestErrors != nil }
        var columns = ["period", isFleet ? "requests" : "calls", "failed"]
        if hasErrors { columns.append("request errors") }
        columns += ["50 %", "90 %", "99 %", "slowest"]
        if !isFleet { columns += ["hedged", "failed over"] }
        let rows = report.phases.map { phase in
            var row = [phase.name.rawValue, phase.calls.figure, phase.failures.figure]
            if hasErrors { row.append((phase.requestErrors ?? 0).figure) }
            row += (phase.percentiles + [phase.max]).map { $0?.wait ?? "–" }
            return row + [phase.hedged, phase.failedOver].compactMap { $0?.figure }
        }
        let times = report.phases.count > 1 ? " before, during and after the \(report.faultWord)" : ""
        let error = report.phases.contains { $0.failures > 0 } ? "; a failed call ends with its error" : ""
        let title = "Time within which 50, 90 and 99 % of the \(columns[1]) ended\(times)\(error)"
        return HTMLTable(title, columns, rows).html
    }

    /// The failed calls by reason, the most frequent reason first.
    private var failures: String {
        guard let calls = report.calls else { return "" }
        let failed = calls.start.indices.filter { calls.failure[$0] > 0 }
        let groups = Dictionary(grouping: failed) { calls.failure[$0] - 1 }
        guard !groups.isEmpty else { return "" }
        let rows = groups.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map { reason, members in
            let servers = Set(members.map { calls.server[$0] }.filter { $0 >= 0 }).sorted().map { report.servers[$0] }
            let times = members.map { calls.start[$0] }
            return [
                calls.reason(reason), members.count.figure, servers.isEmpty ? "–" : servers.joined(separator: ", "),
                times.min()?.moment ?? "–", times.max()?.moment ?? "–",
            ]
        }
        return HTMLTable(
            "Failed calls by reason",
            ["reason", "calls", "last server", "first call at", "last call at"],
            rows
        ).html
    }

    private var events: String {
        let shown = report.marks.filter { $0.kind != .probe }
        let probes = report.marks.filter { $0.kind == .probe }
        guard !report.marks.isEmpty else { return "<p class=\"quiet\">No server had an event.</p>" }
        let list = shown.enumerated().map { entry($1, "<span class=\"number\">\($0 + 1)</span>", "major") }
        let events = "<ol class=\"happenings\">\(list.joined(separator: "\n"))</ol>"
        guard !probes.isEmpty else { return events }
        let failed = probes.count { $0.isGood == false }
        let title = "\(probes.count.figure) probes of servers out of service, \(failed.figure) of them failed"
        let entries = probes.map { entry($0, "<span></span>", "minor") }.joined(separator: "\n")
        return events + "<details><summary>\(title)</summary><ol class=\"happenings\">\(entries)</ol></details>"
    }

    private func entry(_ mark: ReportMark, _ number: String, _ name: String) -> String {
        "<li>\(number)<time>\(mark.at.moment)</time><span class=\"\(name)\">\(HTMLText.escaped(mark.text))</span></li>"
    }
}

extension ReportCalls {
    /// Returns the description of a kind of failure, given its index in ``failures``.
    fileprivate func reason(_ place: Int) -> String {
        let words = reasons.map { $0[place] } ?? failures[place]
        return failures[place].blamesServer ? words : "\(words) (request error)"
    }
}

/// The effects of faults as rows of a table.
///
/// With the headings of the columns, each row reads as a sentence.
struct ImpactRows {
    let rows: [[String]]
    /// The level of each row.
    let levels: [Verdict.Level]

    init(_ report: Report) {
        levels = report.sharedImpacts.map { report.level(of: $1) }
        rows = report.sharedImpacts.map { names, impact in
            let hasHeir = !report.leavesNoServer(impact)
            return [
                "\(names) \(impact.what)", "at \(impact.from.moment)", impact.notice(in: report), impact.calls.figure,
                impact.failed.figure, impact.saved.figure, impact.slowest?.wait ?? "–",
                impact.heir.flatMap { hasHeir ? report.servers[$0] : nil } ?? "–", impact.comeback,
            ]
        }
    }
}

extension ReportImpact {
    /// The time after which the server was taken out of service, such as `after 14 ms`, or the reason why it was not.
    func notice(in report: Report) -> String {
        if report.leavesNoServer(self) { return "no server left" }
        return noticedAfter.map { "after \(($0 * 1_000).wait)" } ?? "no, it stayed in service"
    }

    /// The time after which the server was back, such as `after 5.8 s`, or the reason why it was not.
    ///
    /// A server that was not preferred again is back when its failures end.
    var comeback: String {
        if isUntried == true { return "not tried again" }
        return (backAfter ?? length).map { "after \($0.moment)" } ?? "not by the end"
    }
}
