import Foundation
import Switchyard

/// A benchmark that sends a large file to a server in a child process: as the whole request body, and as a part of a
/// multipart form.
struct MultipartContest {
    /// The size of the file in bytes.
    let fileSize: Int

    func run() async throws -> EncodingReport {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("form-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        // The file is sparse, so reading it needs no disk access, like reading from the page cache.
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(fileSize))
        try handle.close()
        let server = try ChildServer(command: "serve-drain")
        let transport = try Transports.systemDefault()
        defer { transport.shutdown() }
        let form = MultipartForm(parts: [.field("title", "Holiday"), .file(file, name: "movie")])
        let contenders = try [
            contender("file as the body", .file(file), transport, server.url),
            contender("multipart form", .multipart(form), transport, server.url),
        ]
        let start = PeakMemory.reset()
        let scores = try await Contest(contenders: contenders, concurrency: 1, secondsPerTurn: 0.01).run()
        let title = "multipart form with a file of \(fileSize >> 20) MiB"
        var report = EncodingReport(title: title, contenders: contenders.map(\.name), scores: scores, workPerTurn: 1)
        report.peakGrowth = PeakMemory.bytes - start
        withExtendedLifetime(server) {}
        return report
    }

    private func contender(
        _ name: String,
        _ body: RequestBody,
        _ transport: any Transport,
        _ url: String
    ) throws -> Contender {
        let generator = RequestGenerator(timeouts: HTTPRequest.Timeouts())
        let base = try BaseURL(url)
        return Contender(name: name) { [fileSize] in
            let configuration = APIConfiguration(method: .post, body: body)
            let response = try await transport.send(try generator.request(for: configuration, on: base))
            guard case .whole(let answer) = response.body, let count = Int(String(decoding: answer, as: UTF8.self)),
                count >= fileSize
            else { throw BenchmarkError("the body is incomplete") }
        }
    }
}

/// The peak memory of this process.
enum PeakMemory {
    /// Resets the peak if the system supports this, and returns the current value in bytes.
    static func reset() -> Int {
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        return bytes
    }

    /// The peak memory in bytes, or 0 if the system does not report it.
    static var bytes: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return 0 }
        return line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first.map { $0 << 10 } ?? 0
    }
}
