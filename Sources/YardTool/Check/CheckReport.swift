/// The results of ``ServiceCheck``.
struct CheckReport: Sendable {
    /// The result for one server.
    struct Row: Sendable, Equatable {
        var service: String
        var server: String
        var url: String
        /// The response status, or one word for the kind of failure.
        var state = "-"
        /// The latency of the response, or `nil` if the server did not respond.
        var latency: Duration?
        /// A description of the problem, or `nil` if the server responded.
        var problem: String?
    }

    /// The results for all checked servers, in the order of the files.
    var rows: [Row] = []
    /// Descriptions of the files that are signed server lists, one line each.
    var lists: [String] = []
    /// Descriptions of environments that have only some of a service's servers, one line each.
    ///
    /// Such an environment is valid, but its name may be misspelled in the file.
    var partialEnvironments: [String] = []
    /// Warnings, one line each: requests that no server of an environment serves, patterns that match fewer requests
    /// than a reader may expect, and weights without an effect.
    var roleWarnings: [String] = []
    /// Descriptions of invalid files and of servers that do not respond, one line each.
    ///
    /// For an invalid file, the line names the file, the key, and the expected value.
    var problems: [String] = []

    /// Whether every file is valid and every server responded.
    var isGood: Bool { problems.isEmpty }

    /// Returns the table with a heading.
    ///
    /// The table is followed by the server lists, the environments that have only some of the servers, and the warnings
    /// about roles.
    ///
    /// The result is an empty string if no server was checked.
    ///
    /// - Parameter styled: A function that returns a text in a style if the output supports styles.
    /// - Returns: The lines, each with a line end.
    func text(styled: (String, Style) -> String) -> String {
        guard !rows.isEmpty else { return "" }
        var table = TextTable([
            "service": .left, "server": .left, "URL": .left, "state": .left, "latency": .right,
        ])
        for row in rows {
            let state = styled(row.state, row.problem == nil ? .green : .red)
            table.add([row.service, row.server, row.url, state, row.latency?.figure ?? "-"])
        }
        let lines = lists + partialEnvironments + roleWarnings
        let notes = lines.isEmpty ? [] : [""] + lines
        return (table.lines + notes).map { $0 + "\n" }.joined()
    }
}
