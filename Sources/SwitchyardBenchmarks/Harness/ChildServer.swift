import Foundation

/// A ``BareServer`` or a ``DrainServer`` in a child process.
final class ChildServer {
    /// Where it answers.
    let url: String
    private let process = Process()
    private let input = Pipe()

    /// Starts the child, which is this very executable with another command.
    init(command: String = "serve-bare") throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        if let own = Bundle.main.executableURL { process.executableURL = own }
        process.arguments = [command]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchmarkError("the child server did not say its port, but \"\(line)\"")
        }
        url = "http://127.0.0.1:\(port)/topics"
    }

    deinit {
        process.terminate()
    }
}

/// Something that keeps a benchmark from being run.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
