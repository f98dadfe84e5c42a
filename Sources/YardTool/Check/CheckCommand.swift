import Foundation
import Switchyard

/// A command that validates service files and checks whether every server responds.
struct CheckCommand: Command {
    static let name = "check"
    static let summary =
        "Validates service files, server lists or folders of them (default: Services), and requests every server."
    static let positional = "[PATH ...]"
    static let options: [Arguments.Option] = [
        .value("environment", "E", "The environment (default: the default environment of each file)."),
        .value("timeout", "S", "The maximum time for a response, in seconds (default: 5)."),
    ]

    private let places: [URL]
    private let check: ServiceCheck

    init(_ arguments: Arguments) throws(UsageError) {
        let paths = arguments.positional.isEmpty ? ["Services"] : arguments.positional
        guard !paths.contains("") else { throw UsageError("PATH must not be empty") }
        guard arguments.text("environment") != "" else { throw UsageError("--environment must not be empty") }
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
