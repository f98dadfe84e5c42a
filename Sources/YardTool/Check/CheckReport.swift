/// What a check has found.
struct CheckReport: Sendable {
    /// What became of one server.
    struct Row: Sendable, Equatable {
        var service: String
        var server: String
        var url: String
        /// The status that it answered, or one word for how it failed.
        var state = "-"
        /// How long the answer took; `nil` without one.
        var latency: Duration?
        /// What is wrong with it; `nil` when it answered.
        var problem: String?
    }

    /// Every server that was asked, in the order of the files.
    var rows: [Row] = []
    /// Files that are not valid and servers that do not answer, one line each: file, key, what was expected.
    var problems: [String] = []

    /// Whether every file is valid and every server answered.
    var isGood: Bool { problems.isEmpty }

    /// The table, with a heading; empty when no server was asked.
    ///
    /// - Parameter styled: The text in a style, where there are any.
    /// - Returns: Lines, each with its end.
    func text(styled: (String, Style) -> String) -> String {
        guard !rows.isEmpty else { return "" }
        var table = TextTable([
            "service": .left, "server": .left, "URL": .left, "state": .left, "latency": .right,
        ])
        for row in rows {
            let state = styled(row.state, row.problem == nil ? .green : .red)
            table.add([row.service, row.server, row.url, state, row.latency?.figure ?? "-"])
        }
        return table.lines.map { $0 + "\n" }.joined()
    }
}
