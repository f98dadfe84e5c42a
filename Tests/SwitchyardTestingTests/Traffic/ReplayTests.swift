import Foundation
import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ReplayTests {
    private func request(_ path: String, base: String = "http://a") throws -> HTTPRequest {
        HTTPRequest(url: try RequestURL(validating: "\(base)/\(path)"))
    }

    private func body(_ response: HTTPResponse) -> Data {
        if case .whole(let data) = response.body { data } else { Data() }
    }

    @Test func `real traffic is recorded and replayed without a network`() async throws {
        let binary = Data([0, 255, 7])
        let server = try LoopbackServer.running()
        server.route(.get, "/image") { _ in .data(binary) }
        let real = try Transports.systemDefault()
        let recording = RecordingTransport(real)
        let urls = try ["image", "missing"].map { try request($0, base: server.baseURL) }
        for url in urls { _ = try await recording.send(url) }
        recording.shutdown()
        server.stop()

        let archive = try HARArchive(data: recording.archive.data())
        let replay = StubTransport(replaying: archive)

        #expect(body(try await replay.send(urls[0])) == binary)
        #expect(try await replay.send(urls[1]).status == 404)
    }

    @Test func `responses to the same request are replayed in order, and the last one repeats`() async throws {
        let recording = RecordingTransport(
            StubTransport(answers: [.status(503), .failure(.connectionReset), .status(200)])
        )
        for _ in 0..<3 { _ = try? await recording.send(try request("a")) }
        let replay = StubTransport(replaying: recording.archive)

        #expect(try await replay.send(try request("a")).status == 503)
        let error = await #expect(throws: TransportError.self) { try await replay.send(try request("a")) }
        #expect(error?.kind == .connectionReset)
        for _ in 0..<2 { #expect(try await replay.send(try request("a")).status == 200) }
    }

    @Test func `a replay finds a request despite its redacted recording, and fails for an unrecorded request`()
        async throws
    {
        let recording = RecordingTransport(StubTransport { _ in .status(200) })
        _ = try await recording.send(try request("a?token=one"))
        let replay = StubTransport(replaying: recording.archive)

        #expect(try await replay.send(try request("a?token=two")).status == 200)
        let error = await #expect(throws: TransportError.self) { try await replay.send(try request("b")) }
        #expect(error?.message.contains("the archive has no response left for GET http://a/b") == true)
    }

    private func streamed(_ path: String) throws -> HTTPRequest {
        var request = try request(path)
        request.delivery = .stream
        return request
    }

    private func read(_ response: HTTPResponse, pieces most: Int = .max) async throws -> Data {
        guard case .stream(let stream) = response.body else { return body(response) }
        var bytes = Data()
        var (pieces, count) = (stream.makeAsyncIterator(), 0)
        while count < most, let piece = try await pieces.next() {
            bytes.append(piece)
            count += 1
        }
        return bytes
    }

    private static let pieces = ["one ", "two ", "three"].map { Data($0.utf8) }

    @Test func `the body of a streamed response is replayed as it was read`() async throws {
        let recording = RecordingTransport(StubTransport { _ in .chunks(Self.pieces) })
        #expect(try await read(recording.send(streamed("a"))) == Data("one two three".utf8))
        let replay = StubTransport(replaying: try HARArchive(data: try recording.archive.data()))

        #expect(try await read(replay.send(streamed("a"))) == Data("one two three".utf8))
        #expect(try await read(replay.send(request("a"))) == Data("one two three".utf8))
    }

    @Test(arguments: [true, false])
    func `only the part of a stream that was read is recorded, and it is recorded once`(cancels: Bool) async throws {
        let recording = RecordingTransport(StubTransport { _ in .chunks(Self.pieces) })
        do {
            let answer = try await recording.send(streamed("a"))
            #expect(try await read(answer, pieces: 2) == Data("one two ".utf8))
            withExtendedLifetime(answer) { #expect(recording.archive.entries.isEmpty) }
            if cancels, case .stream(let stream) = answer.body {
                stream.cancel()
                withExtendedLifetime(answer) { #expect(recording.archive.entries.count == 1) }
            }
        }

        // The transport may release the response a moment later.
        await until { !recording.archive.entries.isEmpty }
        #expect(recording.archive.entries.map(\.response.content.text) == ["one two "])
    }

    @Test func `a streamed body is recorded up to the limit and read completely`() async throws {
        let recording = RecordingTransport(StubTransport { _ in .chunks(Self.pieces) }, streamLimit: 6)

        #expect(try await read(recording.send(streamed("a"))) == Data("one two three".utf8))

        #expect(recording.archive.entries.map(\.response.content.text) == ["one tw"])
    }

    @Test func `a truncated stream is recorded as a failure`() async throws {
        let cut = TransportError(.truncated, message: "cut")
        let recording = RecordingTransport(StubTransport { _ in .chunks(Self.pieces, failing: cut) })
        await #expect(throws: cut) { try await read(recording.send(streamed("a"))) }
        let replay = StubTransport(replaying: recording.archive)

        let error = await #expect(throws: TransportError.self) { try await replay.send(streamed("a")) }
        #expect(error?.kind == .truncated)
        #expect(recording.archive.entries.count == 1)
    }

    @Test(arguments: [
        #"{"code":0,"message":"","data":{"id":1}}"#, #"{"code": "A0301", "data": null}"#,
        #"{"error":{"code":404}}"#, #"[{"code":-1,"x":[]},{"code":null}]"#,
    ])
    func `result codes in JSON responses are replayed unchanged`(answer: String) async throws {
        let recording = RecordingTransport(StubTransport { _ in .json(answer) })
        _ = try await recording.send(try request("a"))
        let replay = StubTransport(replaying: try HARArchive(data: try recording.archive.data()))

        #expect(body(try await replay.send(try request("a"))) == Data(answer.utf8))
    }

    @Test func `a possible authorization code in a response is redacted in the recording`() async throws {
        let answer = #"{"code":"SplxlOBeZQQYbYS6WxSbIA","otp":1,"more":{"code":{"a":1}}}"#
        let recording = RecordingTransport(StubTransport { _ in .json(answer) })
        _ = try await recording.send(try request("a"))
        let replay = StubTransport(replaying: recording.archive)

        let expected = #"{"code":"***","otp":"***","more":{"code":"***"}}"#
        #expect(body(try await replay.send(try request("a"))) == Data(expected.utf8))
    }

    @Test func `lenient matching ignores the server, the order of the query and the body`()
        async throws
    {
        let recording = RecordingTransport(StubTransport { .status(200, body: Data(($0.url.query ?? "").utf8)) })
        for query in ["x=1&y=2", "x=3"] {
            let url = try RequestURL(validating: "http://127.0.0.1:8081/form?\(query)")
            _ = try await recording.send(HTTPRequest(method: .post, url: url, body: .data(Data("boundary 1".utf8))))
        }
        let url = try RequestURL(validating: "https://release.test/form?y=2&x=1")
        let asked = HTTPRequest(method: .post, url: url, body: .data(Data("boundary 2".utf8)))

        let lenient = StubTransport(replaying: recording.archive, matching: .lenient)
        #expect(body(try await lenient.send(asked)) == Data("x=1&y=2".utf8))
        for other in ["form?x=1", "form?x=1&y=3", "other?x=1&y=2"] {
            let request = HTTPRequest(method: .post, url: try RequestURL(validating: "https://release.test/\(other)"))
            await #expect(throws: TransportError.self) { try await lenient.send(request) }
        }
        await #expect(throws: TransportError.self) { try await lenient.send(try request("form?x=3")) }

        let strict = StubTransport(replaying: recording.archive)
        await #expect(throws: TransportError.self) { try await strict.send(asked) }
    }

    /// A form with its own boundary that contains a form with another boundary.
    private func upload(_ title: String, _ image: [UInt8] = []) throws -> HTTPRequest {
        let inner = MultipartForm(parts: [.field("note", "n")], subtype: "mixed")
        let form = MultipartForm(parts: [
            .field("title", title), .data(Data(image), name: "image"),
            MultipartPart(name: "more", content: .form(inner)),
        ])
        var request = try request("films")
        request.method = .post
        request.headers.set("Content-Type", form.contentType)
        request.body = try form.body()
        return request
    }

    @Test func `multipart forms match by their parts regardless of their boundaries`() async throws {
        let image: [UInt8] = [0, 255, 13, 10, 45, 45]
        let recording = RecordingTransport(StubTransport(answers: [.status(201), .status(202)]))
        _ = try await recording.send(try upload("one"))
        _ = try await recording.send(try upload("two", image))
        let replay = StubTransport(replaying: try HARArchive(data: recording.archive.data()))

        #expect(try await replay.send(try upload("two", image)).status == 202)
        #expect(try await replay.send(try upload("one")).status == 201)
        await #expect(throws: TransportError.self) { try await replay.send(try upload("one", image)) }
        await #expect(throws: TransportError.self) { try await replay.send(try upload("three")) }
    }

    @Test func `a replayed response takes the recorded time on the test's clock`() async throws {
        let clock = ManualClock()
        let slow = StubTransport { _ in .delayed(by: .seconds(2), on: clock, .status(200)) }
        let recording = RecordingTransport(slow, time: clock)
        let recorded = Task { try await recording.send(try request("a")).status }
        await clock.waitForTimers(1)
        clock.advance(by: .seconds(2))
        _ = try await recorded.value
        let replay = StubTransport(replaying: recording.archive, on: clock)

        let answer = Task { try await replay.send(try request("a")).status }
        await clock.waitForTimers(1)
        clock.advance(by: .milliseconds(1_999))
        #expect(clock.pendingTimers == 1)
        clock.advance(by: .milliseconds(1))

        #expect(try await answer.value == 200)
    }

    @Test(arguments: [1e300, .infinity, 9.3e18])
    func `a replay of a response with an infinite recorded time still completes`(time: Double) async throws {
        let clock = ManualClock()
        let recording = RecordingTransport(StubTransport { _ in .status(200) }, time: clock)
        _ = try await recording.send(try request("a"))
        var archive = recording.archive
        archive.entries[0].time = time
        let replay = StubTransport(replaying: archive, on: clock)

        let answer = Task { try await replay.send(try request("a")).status }
        await clock.waitForTimers(1)
        clock.advance(to: MonotonicTime(nanoseconds: .max))

        #expect(try await answer.value == 200)
    }
}
