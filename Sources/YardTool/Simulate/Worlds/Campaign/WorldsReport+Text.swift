import SwitchyardInspector

extension WorldsReport {
    /// The columns of ``deviations``.
    static let columns = ["fared worse because of", "calls", "limit", "first worlds", "reason"]

    /// The explanation of the table, for readers who have never seen it.
    static let legend =
        "A world is a random scenario of servers, faults and calls. Its number is the seed with which yard simulate "
        + "worlds plays it again. The limit is the number of calls that may fare worse for a reason. If more calls do, "
        + "the run has failed."

    /// The report as readable text.
    var text: String { text(columns: .max) }

    /// Returns the report as readable text, wrapped between words to this number of columns.
    func text(columns: Int) -> String {
        let facts = facts.map { $0.name.padded(to: 12) + $0.value }
        let result = ([verdict.headline] + verdict.details).flatMap { $0.wrapped(to: columns, indent: 2) }
        let legend = Self.legend.wrapped(to: columns, indent: 0)
        return (facts + [""] + table(columns) + [""] + legend + exampleLines + [""] + result).joined(separator: "\n")
    }

    /// The result in words: the calls that succeeded because of switching, and the calls that fared worse.
    var verdict: Verdict {
        let saved = answered - servedByFirstServer
        let worse = faults.reduce(0) { $0 + $1.violations } + exceptions.reduce(0) { $0 + $1.violations }
        let unknown = faults.reduce(0) { $0 + $1.violations }
        let share = (100 * Double(worse) / Double(max(1, calls))).rounded(to: 2)
        let gain =
            "Of \(calls.figure) calls, \(saved.figure) more succeeded than with the first server alone; "
            + "\(worse.figure) (\(share) %) fared worse"
        let known = worse == 0 ? "." : ", each for a known reason."
        let reason = unknown == 0 ? known : ", \(unknown.figure) of them for no known reason."
        let limits = holds ? "No reason exceeds its limit of calls." : "At least one reason exceeds its limit of calls."
        return Verdict(level: holds ? .good : .bad, headline: gain + reason, details: [limits])
    }

    /// The settings and results of the run, as names and values.
    var facts: [(name: String, value: String)] {
        [
            ("worlds", "\(worlds.figure) from number \(firstWorld), \(alikeWorlds.figure) of them with equal servers"),
            ("policy", policy),
            ("calls", calls.figure),
            ("succeeded", "\(answered.figure) calls; \(servedByFirstServer.figure) with the first server alone"),
            ("requests", "\(requestsPerCall.rounded(to: 4)) per call, and \(shadows.figure) shadow requests"),
            ("switches", switches.figure),
            ("run time", "\(wallSeconds.rounded(to: 2)) s"),
        ]
    }

    /// The rows of the table: each reason why calls fared worse, with the number of these calls and its limit.
    ///
    /// Unknown reasons come first, and their limit is 0. The limit of a known reason is a share of all calls, plus a
    /// constant because one world can have many such calls.
    var deviations: [[String]] {
        faults.map { fault in
            [
                fault.name, fault.violations.figure, "0", Self.list(fault.firstWorlds, of: fault.worlds),
                "unknown: a fault",
            ]
        }
            + exceptions.map { exception in
                [
                    exception.name, exception.violations.figure,
                    "\(allowed(exception).figure)\(exception.isExcessive ? " EXCEEDED" : "")",
                    Self.list(exception.firstWorlds, of: exception.worlds), exception.reason,
                ]
            }
    }

    /// The maximum number of calls in this run that may fare worse for a reason.
    private func allowed(_ exception: Exception) -> Int { Int(KnownException.limit(exception.most, calls: calls)) }

    private func table(_ columns: Int) -> [String] {
        var table = TextTable([
            Self.columns[0]: .left, Self.columns[1]: .right, Self.columns[2]: .right, Self.columns[3]: .left,
            Self.columns[4]: .left,
        ])
        for row in deviations { table.add(row) }
        return table.lines(columns)
    }

    private var exampleLines: [String] {
        examples.flatMap { example in
            let heading = "\(example.fault), world \(example.number), minimized:"
            let lines = example.world + example.violation
            return ["", heading] + lines.map { "  \($0)" }
        }
    }

    /// Returns the numbers that identify the first worlds (random scenarios), and an ellipsis if there are more.
    private static func list(_ numbers: [UInt64], of count: Int) -> String {
        guard !numbers.isEmpty else { return "–" }
        return numbers.map { "\($0)" }.joined(separator: ", ") + (count > numbers.count ? ", …" : "")
    }
}

extension WorldsReport {
    /// The content of a page: the verdict, the calls that fared worse, and the numbers.
    var html: String {
        let lines = examples.map { example in
            let text = (example.world + example.violation).joined(separator: "\n")
            return "<h2>\(HTMLText.escaped("\(example.fault), world \(example.number), minimized"))</h2>"
                + "<pre>\(HTMLText.escaped(text))</pre>"
        }
        let worse = HTMLTable(
            "Calls that fared worse than with the first server alone",
            Self.columns,
            deviations,
            isStacked: true
        )
        let numbers = HTMLTable("Numbers", ["number", "value"], facts.map { [$0.name, $0.value] }, isStacked: true)
        return "<h1>yard simulate worlds</h1>\n\(verdict.html)\n<div class=\"texts\">"
            + "\(worse.html)\n<p class=\"quiet\">\(HTMLText.escaped(Self.legend))</p>\n\(numbers.html)</div>\n"
            + lines.joined()
    }
}
