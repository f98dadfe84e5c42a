import Foundation

/// A server for a benchmark, in a child process.
final class ChildServer {
    /// The origin of the server, without a trailing slash.
    let origin: String
    /// The URL that most benchmarks request.
    var url: String { origin + "/topics" }
    private let process = Process()
    private let input = Pipe()

    /// Starts the child process: this executable with the command that runs the server.
    init(command: String = "serve-bare") throws {
        let output = Pipe()
        process.executableURL = ChildProcess.ownExecutable
        process.arguments = [command]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchmarkError("the child server printed \"\(line)\" instead of its port")
        }
        origin = "http://127.0.0.1:\(port)"
    }

    deinit {
        process.terminate()
    }
}

/// An error that prevents a benchmark from running.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Throws an error if a benchmark does not have parts with these names.
    static func refuse(_ names: Set<String>, unlessAmong known: [String]) throws(BenchmarkError) {
        let unknown = names.subtracting(known).sorted()
        guard !unknown.isEmpty else { return }
        throw BenchmarkError(
            "unknown part \(unknown.joined(separator: ", ")): must be one of "
                + known.joined(separator: ", ")
        )
    }
}
