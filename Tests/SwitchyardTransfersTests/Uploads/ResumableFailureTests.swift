import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// Failures of resumable uploads.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ResumableFailureTests {
    private let bytes = DownloadLab.bytes(700_000)

    private func upload(_ source: UploadSource) -> UploadConfiguration {
        var upload = UploadConfiguration(path: "files", from: source)
        upload.resumption = .tus()
        return upload
    }

    private func failure(_ lab: UploadLab, _ upload: UploadConfiguration) async -> RequestFailure? {
        await #expect(throws: RequestFailure.self) { _ = try await lab.client.upload(upload) }
    }

    @Test func `a stream of unknown length is rejected before a request is sent`() async throws {
        let lab = try UploadLab(.tus)

        let failure = await failure(lab, upload(.stream(HTTPBody.Stream.of([bytes], length: nil))))

        #expect(failure?.reason == .invalidRequest(.body(kind: "streamed", reason: .unknownLength)))
        #expect(lab.server.requests.isEmpty)
    }

    @Test func `metadata that cannot be sent is rejected before a request is sent`() async throws {
        let lab = try UploadLab(.tus)
        for key in ["", "file name", "a,b", "größe"] {
            var upload = upload(.data(bytes))
            upload.resumption = .tus(metadata: [key: "x"])

            let failure = await failure(lab, upload)

            guard case .invalidRequest(.parameter(keyPath: key, _))? = failure?.reason else {
                Issue.record("\(String(describing: failure))")
                continue
            }
        }
        #expect(lab.server.requests.isEmpty)
    }

    @Test func `a stream with more or fewer bytes than announced fails the upload`() async throws {
        for length in [Int64(699_999), 700_001] {
            let lab = try UploadLab(.tus)

            let failure = await failure(lab, upload(.stream(HTTPBody.Stream.of([bytes], length: length))))

            guard case .invalidRequest(.body(_, .lengthMismatch(announced: length, _)))? = failure?.reason else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(lab.uploads.uploads.map(\.isComplete) == [false])
        }
    }

    @Test func `a file that changes between two requests fails the upload`() async throws {
        let lab = try UploadLab(.tus)
        let file = lab.folder.appendingPathComponent("up.bin")
        try bytes.write(to: file)
        let other = DownloadLab.bytes(700_001)
        var upload = upload(.file(file))
        upload.resumption?.onEvent = { event in
            if case .began = event { try? other.write(to: file) }
        }

        let failure = await failure(lab, upload)

        #expect(failure?.reason == .invalidRequest(.file(path: file.path, reason: .changedWhileSending)))
        #expect(lab.uploads.uploads.map(\.bytes) == [Data()])
    }

    @Test func `the error for a missing file has the path of the file, and no request is sent`() async throws {
        let lab = try UploadLab(.tus)
        let file = lab.folder.appendingPathComponent("missing.bin")

        let failure = await failure(lab, upload(.file(file)))

        guard case .invalidRequest(.file(path: file.path, _))? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(lab.server.requests.isEmpty)
    }

    @Test func `a server that reports more bytes than the upload has causes a protocol error`() async throws {
        let lab = try UploadLab(.tus)
        lab.server.route(.patch, "/files/*") { _ in
            LoopbackResponse(status: 204, headers: ["Upload-Offset": "700001"])
        }
        lab.server.route(.head, "/files/*") { _ in
            LoopbackResponse(status: 200, headers: ["Upload-Offset": "700001"])
        }

        let failure = await failure(lab, upload(.data(bytes)))

        guard case .transport(let error)? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.kind == .protocolViolation)
    }

    @Test func `a server that never accepts a byte is asked for the offset a limited number of times`() async throws {
        let lab = try UploadLab(.tus)
        lab.server.route(.patch, "/files/*") { request in
            _ = try await request.body.collect()
            return LoopbackResponse(status: 204, headers: ["Upload-Offset": "0"])
        }
        var upload = upload(.data(bytes))
        upload.resumption?.maximumContinuations = 2

        let failure = await failure(lab, upload)

        guard case .transport(let error)? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.kind == .protocolViolation)
        #expect(lab.server.requests.filter { $0.method == .patch }.count == 3)
    }

    // MARK: - Cancellation and timeouts

    @Test func `cancelling a resumable upload ends it and frees its request ID`() async throws {
        let lab = try UploadLab(.tus)
        let (asked, gate) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        defer { gate.continuation.finish() }
        lab.server.route(.patch, "/files/*") { request in
            asked.continuation.yield()
            for try await _ in request.body {}
            for await _ in gate.stream { break }
            return LoopbackResponse(status: 204)
        }
        let id = RequestID()
        let task = Task { [upload = upload(.data(bytes))] in try await lab.client.upload(upload, id: id) }
        for await _ in asked.stream { break }
        #expect(lab.client.activeRequests(of: .upload).map(\.id) == [id])

        lab.client.cancel(id)

        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `the timeout of the call limits a resumable upload, and the client's default does not`() async throws {
        for timeout in [Duration.seconds(30), nil] {
            let lab = try UploadLab(.tus)
            let clock = ManualClock()
            let client = try NetworkClient(service: .loopback(lab.servers), time: clock)
            defer { client.shutdown() }
            let (asked, gate) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
            lab.server.route(.patch, "/files/*") { request in
                _ = try await request.body.collect()
                asked.continuation.yield()
                for await _ in gate.stream { break }
                return LoopbackResponse(status: 204, headers: ["Upload-Offset": "700000"])
            }
            var upload = upload(.data(bytes))
            upload.request.timeout = timeout
            let task = Task { [upload] in try await client.upload(upload) }
            for await _ in asked.stream { break }

            clock.advance(by: .seconds(3600))
            if timeout == nil { gate.continuation.finish() }

            let result = await task.result
            if timeout == nil { #expect(throws: Never.self) { try result.get() } }
            if timeout != nil { #expect((result.failure as? RequestFailure)?.reason == .deadlineExceeded) }
            gate.continuation.finish()
        }
    }

    @Test func `a monitor shows the progress of an upload and can cancel it`() async throws {
        let lab = try UploadLab(.tus)
        let monitor = TransferMonitor()
        var upload = upload(.data(bytes))
        upload.monitor = monitor

        _ = try await lab.client.upload(upload)

        #expect(monitor.progress.completedUnitCount == 700_000)
        #expect(lab.uploads.uploads.first?.bytes == bytes)

        var second = self.upload(.data(bytes))
        let other = TransferMonitor()
        second.monitor = other
        other.progress.cancel()
        #expect(await failure(lab, second)?.reason == .cancelled)
    }

    @Test func `the completion is called once, after the last progress report`() async throws {
        let lab = try UploadLab(.tus)
        let queue = DispatchQueue(label: "calls")
        let calls = AsyncStream.makeStream(of: String.self)

        lab.client.upload(upload(.data(bytes)), on: queue) { report in
            if report.direction == .upload, report.completed == 700_000 { calls.continuation.yield("all sent") }
        } completion: { result in
            calls.continuation.yield((try? result.get().status).map { "\($0)" } ?? "failed")
            calls.continuation.finish()
        }

        var seen: [String] = []
        for await call in calls.stream { seen.append(call) }
        #expect(seen == ["all sent", "204"])
    }

    @Test func `an upload ends if the offset that the server reports decreases repeatedly`() async throws {
        let lab = try UploadLab(.tus)
        let pieces = Locked(0)
        lab.server.route(.patch, "/files/*") { request in
            _ = try await request.body.collect()
            // Every second piece fails, and the server then loses the piece before it.
            let isBroken = pieces.withLock { pieces in
                pieces += 1
                return pieces % 2 == 0
            }
            return LoopbackResponse(status: isBroken ? 503 : 204, headers: ["Upload-Offset": "100000"])
        }
        lab.server.route(.head, "/files/*") { _ in LoopbackResponse(status: 200, headers: ["Upload-Offset": "0"]) }
        var upload = upload(.data(bytes))
        upload.resumption?.pieceLength = 100_000
        upload.resumption?.maximumContinuations = 2

        #expect(try await lab.client.upload(upload).status == 503)
        #expect(pieces.withLock { $0 } == 6)
    }

    @Test func `an offset request has no body, even with common parameters`() async throws {
        var options = NetworkClient.Options(seed: 1)
        options.generator.common.parameters = ["platform": "linux"]
        let lab = try UploadLab(.contentRange, options: options)
        lab.uploads.cut(after: 300_000)
        var upload = UploadConfiguration(path: "files", from: .data(bytes))
        upload.resumption = .contentRange()

        _ = try await lab.client.upload(upload)

        let question = try #require(lab.server.requests.dropLast().last)
        #expect(question.headers["Content-Range"] == "bytes */700000")
        #expect(question.bodyCount == 0)
        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
