import Foundation
import Switchyard
import SwitchyardTesting

/// A command that runs the servers of service files on fixed ports, so that an app can be tested with them.
struct ServeCommand: Command {
    static let name = "serve"
    static let summary =
        "Runs the servers of service files (default: those of Services) for testing an app, with faults on command."
    static let positional = "[PATH ...]"
    static let options: [Arguments.Option] = [
        .value("port", "P", "The first port (default: the ports in the files; 0: any free ports)."),
        .value("environment", "E", "The environment (default: the default environment of each file)."),
        .value("for", "S", "The run time, in seconds (default: until the command is interrupted)."),
    ]

    private let places: [URL]
    private let environment: ServiceEnvironment?
    private let port: UInt16?
    private let duration: Duration?

    init(_ arguments: Arguments) throws(UsageError) {
        guard !arguments.positional.contains("") else { throw UsageError("PATH must not be empty") }
        guard arguments.text("environment") != "" else { throw UsageError("--environment must not be empty") }
        places = arguments.positional.map { URL(fileURLWithPath: $0) }
        environment = arguments.text("environment").map(ServiceEnvironment.init(rawValue:))
        guard environment == nil || !places.isEmpty else { throw UsageError("--environment requires a PATH") }
        port = try arguments.integer("port", in: 0...65_530).map { UInt16($0) }
        duration = try arguments.number("for", in: 0.001...864_000).map { .seconds($0) }
    }

    func run() async throws -> Int32 {
        let yard = try ServedYard(machines(), firstPort: port)
        defer { yard.stop() }
        Terminal.standardOutput.write(yard.instructions + "\n")
        _ = try await Interruption.watch { [duration] in
            // Without a duration, the servers run until the command is interrupted.
            try? await Task.sleep(for: duration ?? .seconds(864_000_000))
        }
        return 0
    }

    /// Returns the servers to run: one for each server of the service files.
    private func machines() throws -> [ServedMachine] {
        guard !places.isEmpty else { return ServedMachine.standard }
        let machines = try places.flatMap { try ServiceCatalog.files(at: $0) }
            .flatMap { try ServedMachine.all(in: $0, environment) }
        let most = 65_535 - Int(port ?? 0)
        guard machines.count <= most else {
            throw UsageError("--port \(port ?? 0) leaves only \(most) ports for \(machines.count) servers")
        }
        return machines
    }
}
