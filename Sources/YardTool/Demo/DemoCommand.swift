import Switchyard

/// A command that shows a new user in less than 20 seconds what the library does, with real connections.
struct DemoCommand: Command {
    static let name = "demo"
    static let summary = "Demonstrates the library with local servers that the demo starts."
    static let options: [Arguments.Option] = [
        .flag("json", "Prints only a JSON object with the results."),
        .flag("inspect", "Shows the calls in a browser as well. The demo starts when the page is open."),
        ReportFile.option,
    ]

    private let printsJSON: Bool
    private let isInspected: Bool
    private let page: ReportFile?

    init(_ arguments: Arguments) throws(UsageError) {
        printsJSON = arguments.has("json")
        isInspected = arguments.has("inspect")
        guard !printsJSON || !isInspected else { throw UsageError("--json and --inspect cannot be combined") }
        page = try ReportFile(arguments)
    }

    func run() async throws -> Int32 {
        let output = Terminal.standardOutput
        let screen = DemoScreen(printsJSON ? .silent : output)
        let notes = TrafficRecorder()
        let demo = Demo(screen: screen, notes: notes, isInspected: isInspected)
        let (report, signal) = try await Interruption.watch { try await demo.run() }
        let traffic = Report(of: TrafficStory(ofDemo: notes.content))
        try page?.write(traffic)
        if printsJSON {
            output.write(try report.json() + "\n")
        } else {
            let verdict = VerdictLines(traffic, columns: output.size().columns, styled: screen.styled)
            let conclusion = signal == nil || report.succeeded ? Self.conclusion(report) : "Interrupted."
            screen.print(["", conclusion, pointer, ""] + verdict.lines)
        }
        // If a demo with an open page has succeeded, the interruption only closes the page and is not a failure.
        if let signal, !(isInspected && report.succeeded) { return 128 + signal }
        return report.succeeded ? 0 : 1
    }

    /// The path of the report, or a hint how to create one.
    private var pointer: String {
        guard let page else { return "To write an HTML report: yard demo --\(ReportFile.name) FILE.html" }
        return "The report is \(page.path). Open it in a browser."
    }

    /// Returns a sentence with the result of the checks and the numbers of switches and returns.
    ///
    /// The sentence does not count calls. Only the verdict counts them, without the calls whose failure a step expects.
    static func conclusion(_ report: DemoReport) -> String {
        let verdict =
            report.brokenClaims.isEmpty
            ? "All checks passed" : "\(report.brokenClaims.count) of the checks failed"
        let figures = "\(report.switches.figure("switch", "switches")), \(report.failBacks.figure("return", "returns"))"
        return "\(verdict) in \(Duration.seconds(report.seconds).figure): \(figures)."
    }
}
