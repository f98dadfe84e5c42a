import Foundation
import Switchyard
import SwitchyardTesting

/// A command that runs the demo's servers on fixed ports, so that an app can be tested with them.
struct ServeCommand: Command {
    static let name = "serve"
    static let summary = "Runs servers on fixed ports for testing an app, with faults on command."
    static let options: [Arguments.Option] = [
        .value("port", "P", "The first of six ports (default: 8081, as in Services/*.json; 0: any free ports)."),
        .value("for", "S", "The run time, in seconds (default: until the command is interrupted)."),
    ]

    private let port: UInt16
    private let duration: Duration?

    init(_ arguments: Arguments) throws(UsageError) {
        port = UInt16(try arguments.integer("port", in: 0...65_530) ?? 8_081)
        duration = try arguments.number("for", in: 0.001...864_000).map { .seconds($0) }
    }

    func run() async throws -> Int32 {
        let yard = try ServedYard(firstPort: port)
        defer { yard.stop() }
        Terminal.standardOutput.write(yard.instructions + "\n")
        _ = try await Interruption.watch { [duration] in
            // Without a duration, the servers run until the command is interrupted.
            try? await Task.sleep(for: duration ?? .seconds(864_000_000))
        }
        return 0
    }
}
