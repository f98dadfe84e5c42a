import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

@testable import SwitchyardClient

/// Sources that fail with one typed error and never leave a body that seems complete at the server.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UploadFailureTests {
    private let bytes = DownloadLab.bytes(700_000)

    private struct Broken: Error {}

    private func lab() throws -> DownloadLab {
        let lab = try DownloadLab()
        lab.server.route(.post, "/up") { request in .text("\(try await request.body.collect().count)") }
        return lab
    }

    private func failure(
        _ lab: DownloadLab,
        _ source: UploadSource,
        monitor: TransferMonitor? = nil
    ) async -> RequestError? {
        var upload = UploadConfiguration(path: "up", from: source)
        upload.monitor = monitor
        do throws(RequestFailure) {
            _ = try await lab.client.upload(upload)
        } catch {
            if case .invalidRequest(let cause) = error.reason { return cause }
            Issue.record("\(error)")
        }
        return nil
    }

    @Test func `a missing file, a directory and a remote URL are rejected before a request is sent`() async throws {
        let lab = try lab()
        let missing = lab.folder.appendingPathComponent("missing")
        let remote = try #require(URL(string: "http://example.com/f"))

        let first = await failure(lab, .file(missing))
        let second = await failure(lab, .file(lab.folder))
        let third = await failure(lab, .file(remote))

        guard case .file(missing.path, .unreadable)? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        #expect(second == .file(path: lab.folder.path, reason: .isDirectory))
        #expect(third == .file(path: "/f", reason: .notAFileURL))
        #expect(lab.server.requests.isEmpty)
    }

    @Test func `the descriptor of a directory is closed only once`() {
        let folder = URL(fileURLWithPath: NSTemporaryDirectory())
        errno = 0

        #expect(throws: RequestError.file(path: folder.path, reason: .isDirectory)) { try StableFileReader(folder) }

        // A second close could hit a descriptor that another thread has opened since.
        #expect(errno != EBADF)
    }

    @Test func `a pipe is rejected as an upload file without blocking`() async throws {
        let lab = try lab()
        let pipe = lab.folder.appendingPathComponent("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)

        let cause = await failure(lab, .file(pipe))

        #expect(cause == .file(path: pipe.path, reason: .unreadable("not a regular file")))
    }

    @Test func `a pipe is rejected as a form file without blocking`() async throws {
        let lab = try lab()
        let pipe = lab.folder.appendingPathComponent("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)

        let cause = await failure(lab, .form(MultipartForm(parts: [.file(pipe, name: "f")])))

        #expect(cause == .file(path: pipe.path, reason: .unreadable("not a regular file")))
    }

    /// A file that is larger than all buffers and old, so that a change shows in its modification date.
    private func largeFile(in lab: DownloadLab) throws -> URL {
        let file = lab.folder.appendingPathComponent("up.bin")
        try Data().write(to: file)
        let writer = try FileHandle(forWritingTo: file)
        try writer.truncate(atOffset: 48 << 20)
        try writer.close()
        try setDate(of: file, to: Self.old)
        return file
    }

    private static let old = Date(timeIntervalSince1970: 1_000_000_000)

    private func setDate(of file: URL, to date: Date) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }

    /// The reader of the file: a reader that can pause if there is a monitor, otherwise the transport if it can.
    enum Way: CaseIterable {
        case plain, monitored, form
    }

    @Test(arguments: ["grow", "shrink", "rewrite", "rewrite within a second"], Way.allCases)
    func `an upload file that changes while it is sent is an error`(change: String, way: Way) async throws {
        let lab = try lab()
        let file = try largeFile(in: lab)
        lab.server.route(.post, "/up") { request in
            var isFirst = true
            for try await _ in request.body where isFirst {
                isFirst = false
                let handle = try FileHandle(forWritingTo: file)
                switch change {
                case "grow":
                    try handle.seekToEnd()
                    try handle.write(contentsOf: Data("x".utf8))
                case "shrink": try handle.truncate(atOffset: 3 << 20)
                default: try handle.write(contentsOf: Data("x".utf8))
                }
                try handle.close()
                if change == "rewrite within a second" { try setDate(of: file, to: Self.old + 0.5) }
            }
            return .text("whole")
        }

        let source = way == .form ? UploadSource.form(MultipartForm(parts: [.file(file, name: "f")])) : .file(file)
        let cause = await failure(lab, source, monitor: way == .monitored ? TransferMonitor() : nil)

        #expect(cause == .file(path: file.path, reason: .changedWhileSending))
        #expect(lab.server.requests.allSatisfy { !$0.isComplete })
    }

    @Test(arguments: [false, true])
    func `an upload file that is deleted while it is sent is sent completely`(isMonitored: Bool) async throws {
        let lab = try lab()
        let file = try largeFile(in: lab)
        lab.server.route(.post, "/up") { request in
            var count = 0
            for try await piece in request.body {
                if count == 0 { try FileManager.default.removeItem(at: file) }
                count += piece.count
            }
            return .text("\(count)")
        }
        var upload = UploadConfiguration(path: "up", from: .file(file))
        upload.monitor = isMonitored ? TransferMonitor() : nil

        let answer = try await lab.client.upload(upload)

        #expect(answer.text == "\(48 << 20)")
    }

    @Test func `a file that is deleted between two attempts is a file error`() async throws {
        let lab = try DownloadLab(2)
        let file = lab.folder.appendingPathComponent("up.bin")
        try bytes.write(to: file)
        lab.servers[0].route(.put, "/up") { request in
            for try await _ in request.body {}
            try FileManager.default.removeItem(at: file)
            throw CancellationError()
        }

        var upload = UploadConfiguration(path: "up", method: .put, from: .file(file))
        upload.request.mayBeRepeated = true
        let error = await #expect(throws: RequestFailure.self) { try await lab.client.upload(upload) }

        guard case .invalidRequest(.file(file.path, .unreadable))? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(lab.servers[1].requests.filter { $0.method == .put }.isEmpty)
    }

    @Test(arguments: [600_000, 699_999, 700_001, 800_000])
    func `a stream with more or fewer bytes than announced is an error`(length: Int64) async throws {
        let lab = try lab()

        let cause = await failure(lab, .stream(PlainReader.stream([bytes], length: length)))

        guard case .body(_, .lengthMismatch(announced: length, _))? = cause else {
            Issue.record("\(String(describing: cause))")
            return
        }
        #expect(lab.server.requests.allSatisfy { !$0.isComplete })
    }

    @Test func `a failed upload's error contains the description of the error that its stream threw`() async throws {
        let lab = try lab()

        let inMidBody = await failure(lab, .stream(PlainReader.stream([bytes], length: nil, failing: Broken())))
        let atStart = await failure(lab, .stream(HTTPBody.Stream(length: 5, makeReader: { throw Broken() })))

        #expect(inMidBody == .body(kind: "streamed", reason: .sourceFailed("Broken()")))
        #expect(atStart == .body(kind: "streamed", reason: .sourceFailed("Broken()")))
        #expect(lab.server.requests.allSatisfy { !$0.isComplete })
    }

    @Test func `a Content-Length that contradicts the body is rejected`() async throws {
        let lab = try lab()
        var upload = UploadConfiguration(path: "up", from: .data(bytes))
        upload.request.headers["Content-Length"] = "10"

        let error = await #expect(throws: RequestFailure.self) { try await lab.client.upload(upload) }

        guard case .transport(let cause)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.kind == .invalidRequest)
        #expect(lab.server.requests.isEmpty)
    }

    @Test func `the timeout of the call limits the whole upload`() async throws {
        let lab = try lab()
        lab.server.fault = .hang
        let clock = ManualClock()
        let client = try NetworkClient(service: .loopback(lab.servers), time: clock)
        defer { client.shutdown() }
        var upload = UploadConfiguration(path: "up", from: .data(bytes))
        upload.request.timeout = .seconds(5)

        let call = Task { [upload] in
            do throws(RequestFailure) {
                _ = try await client.upload(upload)
                return nil as RequestFailure.Reason?
            } catch {
                return error.reason
            }
        }
        await clock.waitForTimers(1)
        clock.advance(by: .seconds(5))

        #expect(await call.value == .deadlineExceeded)
        #expect(client.activeRequests.isEmpty)
    }

    @Test func `the client's default timeout does not limit an upload`() async throws {
        let lab = try lab()
        let (asked, gate) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        lab.server.route(.post, "/up") { _ in
            asked.continuation.yield()
            for await _ in gate.stream { break }
            return .text("taken")
        }
        let clock = ManualClock()
        let client = try NetworkClient(service: .loopback(lab.servers), time: clock)
        defer { client.shutdown() }
        let upload = UploadConfiguration(path: "up", from: .data(bytes))
        let call = Task { try await client.upload(upload) }
        for await _ in asked.stream { break }

        clock.advance(by: .seconds(3600))
        gate.continuation.finish()

        #expect(try await call.value.status == 200)
    }

    @Test func `an upload source that fails does not count as a failure of the server`() async throws {
        let lab = try lab()

        _ = await failure(lab, .stream(PlainReader.stream([bytes], length: nil, failing: Broken())))

        #expect(lab.client.servers[0].statistics.failures == 0)
    }

    @Test func `an upload whose progress is already cancelled is not sent`() async throws {
        let lab = try lab()
        let monitor = TransferMonitor()
        monitor.progress.cancel()
        var upload = UploadConfiguration(path: "up", from: .data(bytes))
        upload.monitor = monitor

        let failure = await #expect(throws: RequestFailure.self) { try await lab.client.upload(upload) }

        #expect(failure?.reason == .cancelled)
        #expect(lab.server.requests.isEmpty)
    }
}

/// Returns pieces without checks, and may throw after them.
private actor PlainReader: HTTPBodyReader {
    private var pieces: ArraySlice<Data>
    private let failure: (any Error)?

    private init(_ pieces: [Data], failing failure: (any Error)?) {
        self.pieces = pieces[...]
        self.failure = failure
    }

    static func stream(_ pieces: [Data], length: Int64?, failing failure: (any Error)? = nil) -> HTTPBody.Stream {
        HTTPBody.Stream(length: length) { PlainReader(pieces, failing: failure) }
    }

    func read(maximumLength: Int) async throws -> Data? {
        guard let first = pieces.popFirst() else {
            if let failure { throw failure }
            return nil
        }
        guard first.count > maximumLength else { return first }
        pieces = [Data(first.dropFirst(maximumLength))] + pieces
        return first.prefix(maximumLength)
    }
}
