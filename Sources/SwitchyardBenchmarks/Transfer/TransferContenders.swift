import Foundation
import Switchyard
import SwitchyardTransfers

/// The contenders (implementations) of each large transfer, in pairs: first the command `curl`, then this library.
struct TransferContenders {
    private let origin: String
    private let size: Int
    private let folder: URL
    private let client: NetworkClient
    private let source: URL

    /// Creates the contenders.
    ///
    /// The server at `origin` sends as many bytes as a request asks for, and accepts any number of bytes. The files are
    /// in `folder`.
    init(origin: String, size: Int, folder: URL) throws {
        self.origin = origin
        self.size = size
        self.folder = folder
        let server = Server(name: "primary", baseURLs: [.test: try ServerURL(origin)])
        client = try NetworkClient(service: try Service(name: "bulk", servers: [server], defaultEnvironment: .test))
        // The file is sparse, so reading it needs no disk access, like reading from the page cache.
        source = folder.appendingPathComponent("source")
        try Data().write(to: source)
        let handle = try FileHandle(forWritingTo: source)
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
    }

    var duels: [(name: String, contenders: [Contender])] {
        [
            ("down", [command("-o", "/dev/null", "\(origin)/bytes/\(size)"), streamed]),
            ("down-file", [flushedCommand, download]),
            ("up", [command("-T", source.path, "-H", "Expect:", "-o", "/dev/null", "\(origin)/up"), upload]),
        ]
    }

    // MARK: The command

    private func command(_ arguments: String...) -> Contender {
        once("curl") {
            try ChildProcess.run(URL(fileURLWithPath: "/usr/bin/env"), arguments: ["curl", "-sSf"] + arguments)
        }
    }

    /// The command `curl`, followed by a flush of its file to the disk.
    ///
    /// A download of the library also ends only when the file is on the disk.
    private var flushedCommand: Contender {
        let file = folder.appendingPathComponent("command").path
        let script = "curl -sSf -o '\(file)' '\(origin)/bytes/\(size)' && sync '\(file)' && rm '\(file)'"
        return once("curl, flushed to disk") {
            try ChildProcess.run(URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", script])
        }
    }

    // MARK: The library

    private var streamed: Contender {
        once("stream") { [client, size] in
            var count = 0
            for try await piece in try await client.stream(APIConfiguration(path: "bytes/\(size)")).bytes {
                count += piece.count
            }
            guard count == size else { throw BenchmarkError("expected \(size) bytes, received \(count)") }
        }
    }

    private var download: Contender {
        once("download to a file") { [client, size, folder] in
            let target = folder.appendingPathComponent("download")
            let file = try await client.download(DownloadConfiguration(path: "bytes/\(size)", to: .file(target)))
            guard file.length == size else { throw BenchmarkError("expected \(size) bytes, received \(file.length)") }
            try FileManager.default.removeItem(at: target)
        }
    }

    private var upload: Contender {
        once("upload from a file") { [client, source, size] in
            let upload = UploadConfiguration(path: "up", method: .put, from: .file(source))
            let answer = try await client.upload(upload)
            guard case .whole(let body) = answer.response.body, String(decoding: body, as: UTF8.self) == "\(size)"
            else {
                throw BenchmarkError("the body is incomplete")
            }
        }
    }

    /// Returns a contender that does its work exactly once in each measurement.
    private func once(_ name: String, _ work: @escaping @Sendable () async throws -> Void) -> Contender {
        Contender(name: name) { _, _ in
            try await work()
            return 1
        }
    }
}
