import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// Sends bodies over real sockets with the system's transport.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct BodyTransferTests {
    private func received(
        _ body: RequestBody,
        method: HTTPMethod = .post,
        headers: HTTPHeaders = [:],
        throttle: BodyThrottle? = nil
    ) async throws -> (RecordedRequest, HTTPRequest) {
        let server = LoopbackServer()
        server.setDefaultRoute { request in
            _ = try await request.body.collect()
            return .text("ok")
        }
        try server.start()
        defer { server.stop() }
        let transport = try Transports.systemDefault()
        defer { transport.shutdown() }
        var configuration = APIConfiguration(path: "upload", method: method, body: body, headers: headers)
        configuration.throttle = throttle
        let request = try BuiltRequest.request(configuration, on: server.baseURL)
        let response = try await transport.send(request)
        #expect(response.status == 200)
        return (try #require(server.requests.first), request)
    }

    // A single file is read directly into the transport's buffer. Several files are read by a reader.
    @Test(arguments: [1, 2])
    func `a form with files arrives completely and with its Content-Length`(files: Int) async throws {
        let folder = try MultipartFormTests.Folder()
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        let parts = try (0..<files).map { MultipartPart.file(try folder.file("\($0).bin", content), name: "f\($0)") }
        let form = MultipartForm(parts: [.field("a", "ü")] + parts + [.field("z", "1")])

        let (received, request) = try await received(.multipart(form))

        let expected = try await request.body.collected(upTo: 1 << 20)
        #expect(received.body == expected)
        #expect(received.headers["Content-Length"] == "\(expected.count)")
        #expect(received.headers["Transfer-Encoding"] == nil)
        #expect(received.headers["Content-Type"] == form.contentType)
    }

    @Test func `a form whose file changes while it is sent is an error`() async throws {
        let folder = try MultipartFormTests.Folder()
        let file = try folder.file("f.bin", Data(count: 48 << 20))
        let old = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: file.path)
        let server = LoopbackServer()
        server.setDefaultRoute { request in
            var isFirst = true
            for try await _ in request.body where isFirst {
                isFirst = false
                try Data("other".utf8).write(to: file)
            }
            return .text("whole")
        }
        try server.start()
        defer { server.stop() }
        let transport = try Transports.systemDefault()
        defer { transport.shutdown() }
        let form = MultipartForm(parts: [.file(file, name: "f"), .field("z", "1")])
        let configuration = APIConfiguration(path: "upload", method: .post, body: .multipart(form))
        let request = try BuiltRequest.request(configuration, on: server.baseURL)

        let error = await #expect(throws: TransportError.self) { _ = try await transport.send(request) }

        #expect(error?.kind == .requestBodyFailed)
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch])
    func `a form can be sent with every method that has a body`(method: HTTPMethod) async throws {
        let form = MultipartForm(parts: [.field("a", "b")])

        let (received, request) = try await received(.multipart(form), method: method)

        #expect(received.method == method)
        #expect(received.body == (try await request.body.collected(upTo: 1 << 20)))
    }

    // A form is sent while the main thread waits for it.
    @MainActor @Test func `a form arrives while the main thread is blocked`() throws {
        let server = LoopbackServer()
        server.route(.post, "/up", answering: .text("ok"))
        try server.start()
        defer { server.stop() }
        let primary = try Server(name: "primary", baseURLs: [.test: ServerURL(server.baseURL)])
        let service = try Service(name: "forms", servers: [primary], defaultEnvironment: .test)
        let client = try NetworkClient(service: service)
        let form = MultipartForm(parts: [.data(Data(count: 1 << 20), name: "d", fileName: "d.bin")])
        let status = Locked<Int?>(nil)
        let isDone = DispatchSemaphore(value: 0)

        client.upload(UploadConfiguration(path: "up", from: .form(form)), on: .global()) { result in
            status.withLock { $0 = try? result.get().status }
            isDone.signal()
        }

        #expect(isDone.wait(timeout: .now() + .seconds(240)) == .success)
        #expect(status.withLock { $0 } == 200)
        #expect(try #require(server.requests.first).bodyCount > 1 << 20)
    }

    @Test func `a stream of unknown length arrives completely in chunks`() async throws {
        let stream = HTTPBody.Stream.of([Data("ab".utf8), Data(count: 70_000), Data("z".utf8)], length: nil)

        let (received, _) = try await received(.stream(stream))

        #expect(received.bodyCount == 70_003)
        #expect(received.headers["Transfer-Encoding"] == "chunked")
    }

    @Test func `a throttled form arrives completely`() async throws {
        let form = MultipartForm(parts: [.data(Data(count: 50_000), name: "d", fileName: "d.bin")])
        let throttle = BodyThrottle(packetSize: 4096, delay: .zero) { _ in }

        let (received, _) = try await received(.multipart(form), throttle: throttle)

        #expect(received.headers["Content-Length"] == form.lengthText)
        let expected = try await form.body().collected(upTo: 1 << 20)
        #expect(received.body == expected)
    }

    // The transport lists the codings that it can decode, unless the caller sets the field.
    @Test func `Accept-Encoding lists the supported codings unless the app sets it`() async throws {
        let (usual, _) = try await received(.json(["a": 1]))
        let (own, _) = try await received(.json(["a": 1]), headers: [.acceptEncoding("br;q=1.0, gzip;q=0.8")])

        #expect(usual.headers["Accept-Encoding"]?.contains("gzip") == true)
        #expect(own.headers["Accept-Encoding"] == "br;q=1.0, gzip;q=0.8")
    }

    @Test func `headers, cookies and non-ASCII values arrive unchanged`() async throws {
        let (received, _) = try await received(
            .json(["a": 1]),
            headers: ["X-Name": "话题", "Cookie": "a=1", "X-Empty": ""]
        )

        #expect(received.headers["X-Name"] == "话题")
        #expect(received.headers["Cookie"] == "a=1")
        #expect(received.text == #"{"a":1}"#)
    }
}

extension MultipartForm {
    fileprivate var lengthText: String? {
        (try? body())?.length.map { "\($0)" }
    }
}
