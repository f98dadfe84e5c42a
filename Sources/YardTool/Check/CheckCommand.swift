import Foundation
import Switchyard

/// A command that validates service files and checks whether every server responds.
struct CheckCommand: Command {
    static let name = "check"
    static let summary = "Validates service files, or those of folders (Services unless given), and asks the servers."
    static let positional = "[PATH ...]"
    static let options: [Arguments.Option] = [
        .value("environment", "E", "the environment; each file's default unless given"),
        .value("timeout", "S", "seconds that a server has to answer; 5 unless given"),
    ]

    private let places: [URL]
    private let check: ServiceCheck

    init(_ arguments: Arguments) throws(UsageError) {
        let paths = arguments.positional.isEmpty ? ["Services"] : arguments.positional
        guard !paths.contains("") else { throw UsageError("a path is empty") }
        guard arguments.text("environment") != "" else { throw UsageError("--environment wants a value: E") }
        places = paths.map { URL(fileURLWithPath: $0) }
        let timeout = try arguments.number("timeout", in: 0.001...3_600) ?? 5
        check = ServiceCheck(
            environment: arguments.text("environment").map(ServiceEnvironment.init(rawValue:)),
            timeout: .seconds(timeout)
        )
    }

    func run() async throws -> Int32 {
        let report = try await check.report(on: places)
        let output = Terminal.standardOutput
        output.write(report.text { output.isColoured ? $0.styled($1) : $0 })
        for problem in report.problems { Terminal.complain("yard check: \(problem)") }
        return report.isGood ? 0 : 1
    }
}
