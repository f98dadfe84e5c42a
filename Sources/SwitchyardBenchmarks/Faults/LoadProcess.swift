import Foundation

/// The command `yard load` in a separate process.
final class LoadProcess: Sendable {
    private let output: FileHandle

    init(service: URL, arguments: [String]) throws {
        let process = Process()
        let own = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        process.executableURL = own.deletingLastPathComponent().appendingPathComponent("yard")
        process.arguments = ["load", "--service", service.path] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            let reason = error.localizedDescription
            throw BenchmarkError("cannot run yard (build it with: swift build -c release --product yard): \(reason)")
        }
        output = pipe.fileHandleForReading
    }

    /// Waits until the process has ended, and returns its output lines.
    func lines() async throws -> [LoadLine] {
        let lines = await read()
        guard !lines.isEmpty else { throw BenchmarkError("yard load sent no requests: run it to see why") }
        return lines
    }

    private func read() async -> [LoadLine] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [output] in
                let data = output.readDataToEndOfFile()
                let decoder = JSONDecoder()
                let lines = data.split(separator: UInt8(ascii: "\n")).compactMap { line in
                    try? decoder.decode(LoadLine.self, from: line)
                }
                continuation.resume(returning: lines)
            }
        }
    }
}
