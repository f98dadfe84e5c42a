import SwitchyardInspector

/// A command that writes a page that shows recorded calls.
struct InspectCommand: Command {
    static let name = "inspect"
    static let summary = "Creates a page from an HTTP Archive (.har) or from the output of yard load (.jsonl)."
    static let positional = "FILE"
    static let options: [Arguments.Option] = [
        .value(ReportFile.name, "OUT.html", "The file for the page (default: FILE followed by .html).")
    ]

    private let path: String
    private let page: ReportFile

    init(_ arguments: Arguments) throws(UsageError) {
        guard arguments.positional.count == 1, let path = arguments.positional.first, !path.isEmpty else {
            throw UsageError("exactly one argument is required: a .har or .jsonl file")
        }
        self.path = path
        page = if let page = try ReportFile(arguments) { page } else { try ReportFile(at: path + ".html") }
    }

    func run() async throws -> Int32 {
        let record = try RecordedTraffic(at: path).record
        try page.write(html: try InspectorPage().html(showing: record))
        let count = record.feed.calls.count
        let left = record.feed.forgotten > 0 ? " (the last of \(count + record.feed.forgotten))" : ""
        Terminal.standardOutput.write("\(count) calls\(left): \(page.path)\n")
        if let leftOut = record.leftOut { Terminal.standardOutput.write("\(leftOut.words)\n") }
        return 0
    }
}
