import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// Uploads that resume after a break.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ResumableUploadTests {
    private let bytes = DownloadLab.bytes(700_000)

    private func upload(
        _ source: UploadSource,
        _ uploads: LoopbackUploads,
        _ change: (inout UploadResumption) -> Void = { _ in }
    ) -> UploadConfiguration {
        var upload = UploadConfiguration(path: "files", from: source)
        var resumption: UploadResumption = uploads.dialect == .tus ? .tus() : .contentRange()
        change(&resumption)
        upload.resumption = resumption
        return upload
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases, ["data", "file", "stream", "form", "nothing"])
    func `a resumable upload is created and sent to the URL of the server`(
        _ dialect: LoopbackUploads.Dialect,
        _ kind: String
    ) async throws {
        let lab = try UploadLab(dialect)
        let source = try source(kind, lab)

        let answer = try await lab.client.upload(upload(source, lab.uploads))

        let sent = try #require(lab.uploads.uploads.first)
        #expect(sent.isComplete)
        if kind == "form" { #expect(sent.bytes.range(of: bytes) != nil) }
        if kind != "form" { #expect(sent.bytes == (kind == "nothing" ? Data() : bytes)) }
        #expect(200..<300 ~= answer.status)
        #expect(lab.server.requests.first?.method == .post)
        #expect(lab.server.requests.first?.bodyCount == 0)
    }

    private func source(_ kind: String, _ lab: UploadLab) throws -> UploadSource {
        let file = lab.folder.appendingPathComponent("up.bin")
        try bytes.write(to: file)
        switch kind {
        case "data": return .data(bytes)
        case "file": return .file(file)
        case "stream":
            let pieces = [bytes.prefix(10), bytes.dropFirst(10)]
            return .stream(HTTPBody.Stream.of(pieces, length: 700_000))
        case "form": return .form(MultipartForm(parts: [.field("a", "b"), .file(file, name: "f")]))
        default: return .data(Data())
        }
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases, ["data", "file", "stream", "form"])
    func `after an interruption, an upload asks for the offset and sends only the rest`(
        _ dialect: LoopbackUploads.Dialect,
        _ kind: String
    ) async throws {
        let lab = try UploadLab(dialect)
        lab.uploads.cut(after: 300_000)
        let events = Recorder<UploadEvent>()
        let upload = upload(try source(kind, lab), lab.uploads) { $0.onEvent = { events.record($0) } }

        _ = try await lab.client.upload(upload)

        let sent = try #require(lab.uploads.uploads.first)
        #expect(sent.isComplete)
        #expect(sent.bytes.range(of: bytes) != nil)
        #expect(lab.uploads.uploads.count == 1)
        #expect(lab.server.requests.last?.bodyCount == sent.length - 300_000)
        guard case .interrupted(at: 0, _)? = events.values.dropFirst().first,
            case .resumed(at: 300_000, _)? = events.values.last
        else {
            Issue.record("expected events for the break: \(events.values)")
            return
        }
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases, [nil, 262_144])
    func `an upload arrives unchanged even if its body reader returns more bytes than requested`(
        _ dialect: LoopbackUploads.Dialect,
        _ pieceLength: Int64?
    ) async throws {
        let lab = try UploadLab(dialect)
        lab.uploads.cut(after: 100_001)
        let stream = HTTPBody.Stream(length: 700_000) { [bytes] in LavishReader(rest: bytes) }

        _ = try await lab.client.upload(upload(.stream(stream), lab.uploads) { $0.pieceLength = pieceLength })

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
    }

    /// A reader that returns 150,000 bytes per call, whatever is requested.
    private actor LavishReader: HTTPBodyReader {
        private var rest: Data

        init(rest: Data) {
            self.rest = rest
        }

        func read(maximumLength: Int) -> Data? {
            defer { rest = rest.dropFirst(150_000) }
            return rest.isEmpty ? nil : rest.prefix(150_000)
        }
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases)
    func `an upload is sent in requests of the configured length`(_ dialect: LoopbackUploads.Dialect) async throws {
        let lab = try UploadLab(dialect)

        let answer = try await lab.client.upload(upload(.data(bytes), lab.uploads) { $0.pieceLength = 262_144 })

        #expect(lab.uploads.uploads.first?.bytes == bytes)
        #expect(lab.server.requests.map(\.bodyCount) == [0, 262_144, 262_144, 175_712])
        #expect(answer.context.attempts == 4)
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases)
    func `progress counts the bytes of the whole upload and never decreases`(
        _ dialect: LoopbackUploads.Dialect
    ) async throws {
        let lab = try UploadLab(dialect)
        lab.uploads.cut(after: 300_000)
        let reports = Recorder<TransferProgress>()

        _ = try await lab.client.upload(upload(.data(bytes), lab.uploads)) { reports.record($0) }

        let counts = reports.values.filter { $0.direction == .upload }.map(\.completed)
        #expect(counts == counts.sorted())
        #expect(reports.values.last { $0.direction == .upload }?.completed == 700_000)
        #expect(reports.values.allSatisfy { $0.direction == .download || $0.total == 700_000 })
    }

    @Test func `an upload is complete even if the last response is lost`() async throws {
        let lab = try UploadLab(.tus)
        lab.uploads.cut(after: 700_000)

        let answer = try await lab.client.upload(upload(.data(bytes), lab.uploads))

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
        #expect(lab.server.requests.map(\.method) == [.post, .patch, .head])
        #expect(answer.headers["Upload-Offset"] == "700000")
    }

    @Test func `an upload that the server no longer knows starts again`() async throws {
        let lab = try UploadLab(.tus)
        let uploads = lab.uploads
        uploads.cut(after: 300_000)
        let events = Recorder<UploadEvent>()
        let upload = upload(.data(bytes), uploads) { resumption in
            resumption.onEvent = { event in
                events.record(event)
                if case .interrupted = event { uploads.forget() }
            }
        }

        _ = try await lab.client.upload(upload)

        #expect(uploads.uploads.map(\.bytes) == [bytes])
        #expect(events.values.contains { if case .restarted = $0 { true } else { false } })
    }

    @Test func `if a restarted upload makes progress, it may be continued as often as a new upload`() async throws {
        let lab = try UploadLab(.tus)
        let uploads = lab.uploads
        let (cuts, breaks) = (Locked(0), Locked(0))
        var upload = upload(.data(bytes), uploads) { resumption in
            resumption.pieceLength = 250_000
            resumption.maximumContinuations = 1
            resumption.onEvent = { event in
                guard case .interrupted = event else { return }
                let number = breaks.withLock { breaks in
                    breaks += 1
                    return breaks
                }
                if number == 1 { uploads.forget() }
            }
        }
        // Breaks the second piece of the first upload and of the restarted upload.
        upload.request.interceptors = [
            .adapting { request, _ in
                guard request.headers["Upload-Offset"] == "250000" else { return }
                let number = cuts.withLock { cuts in
                    cuts += 1
                    return cuts
                }
                if number <= 2 { uploads.cut(after: 10_000) }
            }
        ]

        _ = try await lab.client.upload(upload)

        #expect(uploads.uploads.map(\.bytes) == [bytes])
        #expect(breaks.withLock { $0 } == 2)
    }

    @Test func `a server that refuses repeatedly ends the upload, and its response is returned`() async throws {
        let lab = try UploadLab(.tus)
        lab.server.setFault(.status(503), on: "/files/*")

        let answer = try await lab.client.upload(upload(.data(bytes), lab.uploads) { $0.maximumContinuations = 1 })

        #expect(answer.status == 503)
        #expect(lab.server.requests.map(\.method) == [.post, .patch, .head])
    }

    @Test func `an error response to a request that sent bytes becomes the response of the upload`() async throws {
        let lab = try UploadLab(.tus)
        lab.server.setFault(.status(415), on: "/files/*")

        let answer = try await lab.client.upload(upload(.data(bytes), lab.uploads))

        #expect(answer.status == 415)
        #expect(lab.server.requests.count == 2)
    }

    @Test func `an upload whose creation is refused sends one request`() async throws {
        let lab = try UploadLab(.tus)
        lab.server.setFault(.status(403), on: "/files")

        #expect(try await lab.client.upload(upload(.data(bytes), lab.uploads)).status == 403)
        #expect(lab.server.requests.count == 1)
    }

    @Test func `a creation response without a Location is a protocol error`() async throws {
        let lab = try UploadLab(.tus)
        lab.server.route(.post, "/files") { _ in LoopbackResponse(status: 201) }

        let failure = await #expect(throws: RequestFailure.self) {
            _ = try await lab.client.upload(upload(.data(bytes), lab.uploads))
        }

        guard case .transport(let error)? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.kind == .protocolViolation)
        #expect(error.message.contains("Location"))
    }

    @Test func `each request of an upload has its own Content-Digest`() async throws {
        let lab = try UploadLab(.contentRange)
        var upload = upload(.data(bytes), lab.uploads) { $0.pieceLength = 400_000 }
        upload.digest = .md5

        _ = try await lab.client.upload(upload)

        let digests = lab.server.requests.dropFirst().map { $0.headers["Content-Digest"] }
        let expected = [bytes.prefix(400_000), bytes.dropFirst(400_000)].map { piece in
            ContentDigest(.md5, bytes: MessageDigest.md5(piece))?.fieldValue
        }
        #expect(digests == expected)
    }

    @Test func `a tus upload sends its metadata and the app's header fields`() async throws {
        let lab = try UploadLab(.tus)
        var upload = UploadConfiguration(path: "files", from: .data(bytes))
        upload.resumption = .tus(metadata: ["filename": "film.mov", "is_private": ""])
        upload.request.headers["X-App"] = "demo"
        upload.request.query = ["folder": "7"]

        _ = try await lab.client.upload(upload)

        let requests = lab.server.requests
        #expect(requests[0].headers["Upload-Metadata"] == "filename ZmlsbS5tb3Y=,is_private")
        #expect(requests.map { $0.headers["Tus-Resumable"] } == ["1.0.0", "1.0.0"])
        #expect(requests.map { $0.headers["X-App"] } == ["demo", "demo"])
        #expect(requests.map(\.target) == ["/files?folder=7", "/files/1"])
    }

    @Test func `an upload session is created with the description of the file`() async throws {
        let lab = try UploadLab(.contentRange)
        var upload = UploadConfiguration(path: "files", from: .data(bytes, contentType: "video/mp4"))
        upload.resumption = .contentRange(opening: .json(["name": "film"]))

        let answer = try await lab.client.upload(upload)

        let requests = lab.server.requests
        #expect(requests[0].text == #"{"name":"film"}"#)
        #expect(requests[0].headers["X-Upload-Content-Type"] == "video/mp4")
        #expect(requests[1].headers["Content-Range"] == "bytes 0-699999/700000")
        #expect(requests[1].headers["Content-Type"] == "video/mp4")
        guard case .whole(let body) = answer.response.body else {
            Issue.record("expected a complete response body")
            return
        }
        #expect(String(decoding: body, as: UTF8.self) == #"{"bytes": 700000}"#)
    }
}
