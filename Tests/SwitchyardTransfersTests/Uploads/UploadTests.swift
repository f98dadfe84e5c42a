import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// Uploads from all sources, with their progress.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UploadTests {
    private let bytes = DownloadLab.bytes(700_000)

    /// A lab whose servers accept uploads at `/up` and respond with their length.
    private func lab(_ count: Int = 1) throws -> DownloadLab {
        let lab = try DownloadLab(count)
        for server in lab.servers {
            server.route(nil, "/up") { request in
                var count = 0
                for try await piece in request.body { count += piece.count }
                return .text("\(count)")
            }
        }
        return lab
    }

    private func file(in lab: DownloadLab) throws -> URL {
        let url = lab.folder.appendingPathComponent("up.bin")
        try bytes.write(to: url)
        return url
    }

    @Test(arguments: ["data", "file", "stream", "unknown"])
    func `an upload from any source arrives complete`(kind: String) async throws {
        let lab = try lab()
        let source: UploadSource =
            switch kind {
            case "data": .data(bytes)
            case "file": .file(try file(in: lab), contentType: "video/quicktime")
            case "stream": .stream(HTTPBody.Stream.of([bytes], length: 700_000))
            default: .stream(HTTPBody.Stream.of([bytes.prefix(1), bytes.dropFirst()], length: nil))
            }

        let answer = try await lab.client.upload(UploadConfiguration(path: "up", from: source))

        let request = try #require(lab.server.requests.first)
        #expect(answer.text == "700000")
        #expect(request.body == bytes)
        #expect(request.method == .post)
        #expect(request.headers["Content-Type"] == (kind == "file" ? "video/quicktime" : "application/octet-stream"))
        #expect(request.headers["Content-Length"] == (kind == "unknown" ? nil : "700000"))
    }

    @Test func `a PUT that a paused server may have read is not sent to another server`() async throws {
        let lab = try lab(2)
        lab.servers[0].fault = .pause
        var upload = UploadConfiguration(path: "up", method: .put, from: .data(bytes.prefix(1000)))
        upload.request.timeout = .seconds(2)

        let failure = try #require(
            await #expect(throws: RequestFailure.self) { try await lab.client.upload(upload) }
        )

        #expect(failure.mayHaveBeenExecuted)
        #expect(lab.servers[1].requests.filter { $0.method == .put }.isEmpty)
    }

    @Test(arguments: ["data", "file", "stream", "unknown", "form"])
    func `upload progress never decreases and ends with the sent bytes`(kind: String) async throws {
        let lab = try lab()
        let form = MultipartForm(parts: [.field("a", "b"), .file(try file(in: lab), name: "f")])
        let source: UploadSource =
            switch kind {
            case "data": .data(bytes)
            case "file": .file(try file(in: lab))
            case "stream": .stream(HTTPBody.Stream.of([bytes], length: 700_000))
            case "form": .form(form)
            default: .stream(HTTPBody.Stream.of([bytes], length: nil))
            }
        let reports = Recorder<TransferProgress>()

        let answer = try await lab.client.upload(UploadConfiguration(path: "up", from: source)) { reports.record($0) }

        let sent = answer.text.flatMap { Int64($0) }
        let uploads = reports.values.filter { $0.direction == .upload }
        #expect(uploads.map(\.completed) == uploads.map(\.completed).sorted())
        #expect(uploads.last == TransferProgress(direction: .upload, completed: try #require(sent), total: sent))
        #expect(uploads.last?.fraction == 1)
    }

    // RFC 9110 section 10.1.1: a server may respond before it has read the whole body.
    @Test func `upload progress stops when the server refuses the body`() async throws {
        let lab = try lab()
        lab.server.route(nil, "/up") { _ in
            LoopbackResponse(status: 413, headers: ["Connection": "close"], body: .data(Data("too large".utf8)))
        }
        let reports = Recorder<TransferProgress>()
        let large = UploadSource.data(Data(count: 64 << 20))

        let answer = try await lab.client.upload(UploadConfiguration(path: "up", from: large)) { reports.record($0) }

        #expect(answer.status == 413)
        #expect(reports.values.allSatisfy { $0.direction == .download || $0.completed < 64 << 20 })
    }

    @Test func `upload progress does not go back when the next server is used`() async throws {
        let lab = try lab(2)
        lab.servers[0].route(nil, "/up") { request in
            var count = 0
            for try await piece in request.body {
                count += piece.count
                if count > 300_000 { break }
            }
            throw CancellationError()
        }
        let reports = Recorder<TransferProgress>()
        var upload = UploadConfiguration(path: "up", method: .put, from: .file(try file(in: lab)))
        upload.request.headers["X-Kind"] = "film"
        upload.request.mayBeRepeated = true

        let answer = try await lab.client.upload(upload) { reports.record($0) }

        let counts = reports.values.filter { $0.direction == .upload }.map(\.completed)
        #expect(answer.text == "700000")
        #expect(answer.context.server == "secondary")
        #expect(counts == counts.sorted())
        #expect(counts.last == 700_000)
        #expect(lab.servers[1].requests.first?.body == bytes)
    }

    @Test func `a prebuiltRequest is sent with the bytes of the upload source`() async throws {
        let lab = try lab()
        let source = UploadSource.file(try file(in: lab), contentType: "video/quicktime")
        var upload = UploadConfiguration(path: "", from: source)
        upload.request.prebuiltRequest = HTTPRequest(
            method: .put,
            url: try RequestURL(validating: "\(lab.server.baseURL)/up"),
            headers: ["X-Own": "1"]
        )
        let reports = Recorder<TransferProgress>()

        let answer = try await lab.client.upload(upload) { reports.record($0) }

        let request = try #require(lab.server.requests.first)
        #expect(answer.text == "700000")
        #expect(request.body == bytes)
        #expect(request.method == .put)
        #expect(request.headers["X-Own"] == "1")
        #expect(request.headers["Content-Type"] == "video/quicktime")
        #expect(reports.values.last { $0.direction == .upload }?.completed == 700_000)
    }

    @Test func `a file arrives with the SHA-256 digest that was calculated before the upload`() async throws {
        let lab = try lab()
        let file = try file(in: lab)
        var upload = UploadConfiguration(path: "up", from: .file(file))
        upload.request.headers["X-Digest"] = try MessageDigest.sha256(ofFile: file).hexText

        _ = try await lab.client.upload(upload)

        let request = try #require(lab.server.requests.first)
        #expect(request.headers["X-Digest"] == MessageDigest.sha256(request.body).hexText)
    }

    @Test func `the completion form of upload returns an ID and reports progress on its queue before the end`()
        async throws
    {
        let lab = try lab()
        let queue = DispatchQueue(label: "test.uploads")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let calls = Recorder<Int64>()
        let onQueue = Recorder<Bool>()
        let upload = UploadConfiguration(path: "up", from: .data(bytes))
        // The upload stays active until the test has looked at it.
        lab.server.fault = .hang

        let result = await withCheckedContinuation { continuation in
            let id = lab.client.upload(upload, on: queue) { report in
                onQueue.record(DispatchQueue.getSpecific(key: key) ?? false)
                calls.record(report.completed)
            } completion: { result in
                onQueue.record(DispatchQueue.getSpecific(key: key) ?? false)
                calls.record(-1)
                continuation.resume(returning: result)
            }
            #expect(lab.client.activeRequests == [id])
            lab.server.fault = nil
        }

        #expect(try result.get().text == "700000")
        #expect(onQueue.values.allSatisfy { $0 })
        #expect(calls.values.last == -1)
        #expect(calls.values.filter { $0 == -1 }.count == 1)
    }

    @Test func `an upload is cancelled by its ID and does not count as a failure of the server`() async throws {
        let lab = try lab()
        let id = RequestID()
        let piece = Data(count: 65_536)
        let endless = HTTPBody.Stream(length: nil) { EndlessReader(piece: piece) }

        let error = await #expect(throws: RequestFailure.self) {
            try await lab.client.upload(UploadConfiguration(path: "up", from: .stream(endless)), id: id) { report in
                if report.completed > 1_000_000 { lab.client.cancel(id) }
            }
        }

        #expect(error?.isCancellation == true)
        #expect(lab.client.activeRequests.isEmpty)
        #expect(lab.client.servers[0].statistics.failures == 0)
    }

    @Test func `an upload updates the statistics of its servers`() async throws {
        let lab = try lab(2)
        lab.servers[0].fault = .resetBeforeHead

        var upload = UploadConfiguration(path: "up", from: .data(Data("x".utf8)))
        upload.request.idempotencyKey = .automatic
        _ = try await lab.client.upload(upload)

        #expect(lab.client.servers[0].statistics.failures == 1)
        #expect(lab.client.servers[1].statistics.requests == 1)
        let keys = lab.servers.compactMap { $0.requests.first?.headers["Idempotency-Key"] }
        #expect(Set(keys).count == 1)
    }

    @Test func `a POST that must not be repeated is sent once`() async throws {
        let lab = try lab(2)
        lab.servers[0].fault = .resetBeforeHead

        await #expect(throws: RequestFailure.self) {
            try await lab.client.upload(UploadConfiguration(path: "up", from: .data(Data("x".utf8))))
        }

        #expect(lab.servers[0].requests.count == 1)
        #expect(lab.servers[1].requests.filter { $0.method == .post }.isEmpty)
    }

    @Test func `an error response in the middle of an upload is delivered`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.post, "/up") { _ in
            var answer = LoopbackResponse.text("too large", status: 413)
            answer.closesConnection = true
            return answer
        }

        let answer = try await lab.client.upload(UploadConfiguration(path: "up", from: .data(bytes)))

        #expect(answer.status == 413)
    }
}

/// Returns the same piece without end.
private struct EndlessReader: HTTPBodyReader {
    let piece: Data

    func read(maximumLength: Int) async throws -> Data? { piece.prefix(maximumLength) }
}
