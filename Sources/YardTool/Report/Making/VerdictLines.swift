import Switchyard
import SwitchyardInspector

/// The verdict of a run as lines for a terminal: the sentence, the faults, and what switching has changed.
struct VerdictLines {
    let lines: [String]

    /// Creates the lines.
    ///
    /// - Parameters:
    ///   - report: The report of the run.
    ///   - columns: The number of columns of the terminal. Longer lines are wrapped between words.
    ///   - styled: A function that returns the text in a style if the output supports styles.
    init(_ report: Report, columns: Int, styled: (String, Style) -> String) {
        let verdict = report.verdict
        let (sign, style): (String, Style) =
            switch verdict.level {
            case .good: ("✓ ", .green)
            case .ongoing: ("! ", .yellow)
            case .bad: ("✗ ", .red)
            case .none: ("", .plain)
            }
        let headline = (sign + verdict.headline).wrapped(to: columns, indent: 2).map { styled($0, style) }
        let faults = report.sharedImpacts.map { $1.sentence(of: $0, in: report) }
        lines = headline + (faults + verdict.details).flatMap { "  \($0)".wrapped(to: columns, indent: 4) }
    }
}

extension ReportImpact {
    /// The fault and its effect in one line.
    fileprivate func sentence(of names: String, in report: Report) -> String {
        let hasHeir = !report.leavesNoServer(self)
        let parts = [
            "\(names) \(what) at \(from.moment)",
            hasHeir ? noticedAfter.map { _ in "out of service \(notice(in: report))" } : notice(in: report),
            heir.flatMap { hasHeir ? "calls went to \(report.servers[$0])" : nil },
            "\(saved.figure("call", "calls")) saved",
            "meanwhile \(calls.figure("call", "calls")) in all, \(failed.figure) failed"
                + (slowest.map { ", slowest \($0.wait)" } ?? ""),
            comebackWords,
        ]
        return parts.compactMap(\.self).joined(separator: "; ") + "."
    }

    /// The comeback with the words that introduce it.
    private var comebackWords: String {
        if isUntried == true { return comeback }
        guard isOver else { return "in use again: \(comeback)" }
        return "\(backAfter == nil ? "no failure" : "in use again") \(comeback)"
    }
}
