import Foundation
import Switchyard

/// Validates service files and asks every server whether it is there.
struct CheckCommand: Command {
    static let name = "check"
    static let summary = "Validates a service file, or those of a folder (Services unless given), and asks the servers."
    static let positional = "[DIR]"
    static let options: [Arguments.Option] = [
        .value("environment", "E", "the environment; each file's default unless given"),
        .value("timeout", "S", "seconds that a server has to answer; 5 unless given"),
    ]

    private let folder: URL
    private let check: ServiceCheck

    init(_ arguments: Arguments) throws(UsageError) {
        folder = URL(fileURLWithPath: arguments.positional.first ?? "Services")
        let timeout = try arguments.number("timeout", in: 0.001...3_600) ?? 5
        check = ServiceCheck(
            environment: arguments.text("environment").map(ServiceEnvironment.init(rawValue:)),
            timeout: .seconds(timeout)
        )
    }

    func run() async throws -> Int32 {
        let report = try await check.report(on: folder)
        let output = Terminal.standardOutput
        output.write(report.text { output.isColoured ? $0.styled($1) : $0 })
        for problem in report.problems { Terminal.complain("yard check: \(problem)") }
        return report.isGood ? 0 : 1
    }
}
