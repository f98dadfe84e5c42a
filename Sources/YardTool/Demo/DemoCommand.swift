import Switchyard

/// Shows a newcomer what the library does, on real connections, in under 20 seconds.
struct DemoCommand: Command {
    static let name = "demo"
    static let summary = "Shows what the library does, against servers that it starts itself."
    static let options: [Arguments.Option] = [
        .flag("json", "print one JSON object with the facts, and nothing else")
    ]

    private let printsJSON: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        printsJSON = arguments.has("json")
    }

    func run() async throws -> Int32 {
        let output = Terminal.standardOutput
        let screen = DemoScreen(printsJSON ? .silent : output)
        let (report, signal) = try await Interruption.watch { try await Demo(screen: screen).run() }
        if printsJSON {
            output.write(try report.json() + "\n")
        } else {
            screen.print(["", signal == nil ? Self.conclusion(report) : "Interrupted."])
        }
        if let signal { return 128 + signal }
        return report.succeeded ? 0 : 1
    }

    private static func conclusion(_ report: DemoReport) -> String {
        let verdict =
            report.brokenClaims.isEmpty
            ? "Everything came true" : "Not everything came true (\(report.brokenClaims.count))"
        let figures = [
            "\(report.requests.figure) calls", "\(report.callerFailures) failed", "\(report.switches) switches",
            "\(report.failBacks) fail-backs",
        ]
        return "\(verdict) in \(Duration.seconds(report.seconds).figure): \(figures.joined(separator: ", "))."
    }
}
