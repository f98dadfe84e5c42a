/// A command that prints the numbers of several reports side by side.
struct CompareCommand: Command {
    static let name = "compare"
    static let summary = "Compares the numbers of reports that yard has written."
    static let positional = "REPORT.html REPORT.html ..."
    static let options: [Arguments.Option] = []

    private let paths: [String]

    init(_ arguments: Arguments) throws(UsageError) {
        paths = arguments.positional
        guard paths.count > 1 else { throw UsageError("expected at least two reports, found \(paths.count)") }
    }

    func run() async throws -> Int32 {
        let reports = try paths.map { path throws(StoredReport.Problem) in try StoredReport(at: path) }
        let lines = ReportComparison(reports).lines
        Terminal.standardOutput.write(lines.map { $0 + "\n" }.joined())
        return 0
    }
}
