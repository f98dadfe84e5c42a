import SwitchyardInspector

/// The verdicts of several reports, and a table of their numbers with a column for each report.
struct ReportComparison {
    private let reports: [StoredReport]

    init(_ reports: [StoredReport]) {
        self.reports = reports
    }

    /// The verdict of each report, an empty line, and the table, which begins with the settings that differ.
    var lines: [String] {
        let names =
            zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", reports).map { String($0.0) }
            + reports.dropFirst(26).indices.map { "\($0 + 1)" }
        let files = zip(names, reports).map { "\($0): \($1.path): \($1.report.verdict.headline)" }
        return files + [""] + table(names)
    }

    private func table(_ names: [String]) -> [String] {
        var rows: [[String]] = [[""] + names]
        for name in facts where Set(reports.map { fact(name, of: $0.report) }).count > 1 {
            rows.append([name] + reports.map { fact(name, of: $0.report) })
        }
        for name in ReportPhase.Name.allCases {
            let phases = reports.map { stored in stored.report.phases.first { $0.name == name } }
            guard phases.contains(where: { $0 != nil }) else { continue }
            let word = reports.map(\.report.faultWord).max() ?? "fault"
            rows += Self.rows(of: phases, name == .all ? "" : ", \(name.rawValue) the \(word)")
        }
        rows.append(["saved calls"] + reports.map { saved(in: $0.report) })
        return Self.aligned(rows)
    }

    /// The names of the settings, in the order in which they first occur in the reports.
    private var facts: [String] {
        reports.flatMap { $0.report.facts.map(\.name) }.reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    private func fact(_ name: String, of report: Report) -> String {
        report.facts.first { $0.name == name }?.value ?? "–"
    }

    private func saved(in report: Report) -> String {
        report.calls == nil ? "–" : report.saved.count.figure
    }

    private static func rows(of phases: [ReportPhase?], _ when: String) -> [[String]] {
        func row(_ name: String, _ value: (ReportPhase) -> String) -> [String] {
            [name + when] + phases.map { $0.map(value) ?? "–" }
        }
        return [
            row("calls") { $0.calls.figure },
            row("failed") { phase in
                let share = Double(phase.failures) / Double(max(1, phase.calls))
                return "\(phase.failures.figure) (\(share.percent))"
            },
            row("50 % ended within") { $0.p50?.wait ?? "–" },
            row("99 % ended within") { $0.p99?.wait ?? "–" },
            row("slowest") { $0.max?.wait ?? "–" },
        ]
    }

    /// Returns the rows as lines whose first column is left-aligned and whose other columns are right-aligned.
    private static func aligned(_ rows: [[String]]) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0[column].columns }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated()
                .map { place, cell in cell.0.padded(to: cell.1, onLeft: place > 0) }
                .joined(separator: "  ")
        }
    }
}
