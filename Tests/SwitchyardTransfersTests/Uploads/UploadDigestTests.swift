import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Uploads with a Content-Digest.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UploadDigestTests {
    private let bytes = DownloadLab.bytes(70_000)

    private func lab(_ count: Int = 1) throws -> DownloadLab {
        let lab = try DownloadLab(count)
        for server in lab.servers { server.route(nil, "/up") { _ in .text("taken") } }
        return lab
    }

    private func upload(_ source: UploadSource, _ algorithm: ContentDigest.Algorithm = .sha256) -> UploadConfiguration {
        var upload = UploadConfiguration(path: "up", from: source)
        upload.digest = algorithm
        return upload
    }

    private func fieldValue(of body: Data, _ algorithm: ContentDigest.Algorithm = .sha256) -> String? {
        let digest = algorithm == .md5 ? MessageDigest.md5(body) : MessageDigest.sha256(body)
        return ContentDigest(algorithm, bytes: digest)?.fieldValue
    }

    @Test(arguments: ["data", "file", "stream", "form", "nothing"], ContentDigest.Algorithm.allCases)
    func `the Content-Digest matches the bytes that arrive`(kind: String, algorithm: ContentDigest.Algorithm)
        async throws
    {
        let lab = try lab()
        let file = lab.folder.appendingPathComponent("up.bin")
        try bytes.write(to: file)
        let source: UploadSource =
            switch kind {
            case "data": .data(bytes)
            case "file": .file(file)
            case "stream": .stream(HTTPBody.Stream.of([bytes.prefix(1), bytes.dropFirst()], length: nil))
            case "form": .form(MultipartForm(parts: [.field("a", "b"), .file(file, name: "f")]))
            default: .data(Data())
            }

        _ = try await lab.client.upload(upload(source, algorithm))

        let request = try #require(lab.server.requests.first)
        #expect(request.body.count >= (kind == "nothing" ? 0 : 70_000))
        #expect(request.headers["Content-Digest"] == fieldValue(of: request.body, algorithm))
    }

    @Test func `every server to which an upload is sent receives its Content-Digest`() async throws {
        let lab = try lab(2)
        lab.servers[0].fault = .status(500)
        var upload = upload(.data(bytes))
        upload.request.method = .put

        let answer = try await lab.client.upload(upload)

        #expect(answer.context.server == "secondary")
        let values = lab.servers.map { $0.requests.first?.headers["Content-Digest"] }
        #expect(values == [fieldValue(of: bytes), fieldValue(of: bytes)])
    }

    @Test func `a source that cannot be read fails the upload before a request is sent`() async throws {
        let lab = try lab()
        let missing = lab.folder.appendingPathComponent("missing.bin")

        let failure = await #expect(throws: RequestFailure.self) {
            _ = try await lab.client.upload(upload(.file(missing)))
        }

        guard case .invalidRequest(.file(path: missing.path, _))? = failure?.reason else {
            Issue.record("expected an error with the path: \(String(describing: failure))")
            return
        }
        #expect(lab.server.requests.isEmpty)
    }

    @Test func `a stream that throws or exceeds its length fails the upload with the reason`() async throws {
        let lab = try lab()
        let broken = HTTPBody.Stream(length: nil) { BrokenSource() }
        let long = HTTPBody.Stream.of([bytes], length: 5)

        let first = await #expect(throws: RequestFailure.self) {
            _ = try await lab.client.upload(upload(.stream(broken)))
        }
        let second = await #expect(throws: RequestFailure.self) {
            _ = try await lab.client.upload(upload(.stream(long)))
        }

        let reason = RequestError.BodyReason.sourceFailed("Broken()")
        #expect(first?.reason == .invalidRequest(.body(kind: "streamed", reason: reason)))
        guard case .invalidRequest(.body(_, .lengthMismatch(announced: 5, _)))? = second?.reason else {
            Issue.record("expected an error with the lengths: \(String(describing: second))")
            return
        }
        #expect(lab.server.requests.isEmpty)
    }

    @Test func `an upload whose source waits for its bytes can be cancelled`() async throws {
        let lab = try lab()
        let (pieces, gate) = AsyncStream.makeStream(of: Data.self)
        let asked = AsyncStream.makeStream(of: Void.self)
        let source = HTTPBody.Stream(length: nil) {
            asked.continuation.yield()
            return SlowSource(pieces: pieces)
        }
        let task = Task { try await lab.client.upload(upload(.stream(source))) }
        for await _ in asked.stream { break }

        task.cancel()

        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(lab.server.requests.isEmpty)
        gate.finish()
    }

    @Test func `a body with a Content-Digest is not compressed afterwards`() async throws {
        let lab = try lab()
        var options = NetworkClient.Options(seed: 1)
        options.generator.modifiers.append(RequestCompressor(.gzip).compress)
        let client = try NetworkClient(service: .loopback(lab.servers, switching: .off), options: options)
        let text = Data(repeating: 0x61, count: 5000)

        _ = try await client.upload(upload(.data(text)))
        _ = try await client.upload(UploadConfiguration(path: "up", from: .data(text)))

        #expect(lab.server.requests.map { $0.headers["Content-Encoding"] } == [nil, "gzip"])
        #expect(lab.server.requests.first?.body == text)
    }
}

/// Returns pieces as they arrive.
private struct SlowSource: HTTPBodyReader {
    let pieces: AsyncStream<Data>

    func read(maximumLength: Int) async throws -> Data? {
        for await piece in pieces { return piece }
        return nil
    }
}

/// Throws an error in place of bytes.
private struct BrokenSource: HTTPBodyReader {
    struct Broken: Error {}

    func read(maximumLength: Int) async throws -> Data? { throw Broken() }
}
