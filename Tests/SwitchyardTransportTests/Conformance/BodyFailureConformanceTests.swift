import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// A response with a complete head is a response even if its body fails.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BodyFailureConformanceTests {
    /// A body that fails, as the bytes after the status line.
    struct Broken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rest: String
        let kind: TransportError.Kind
        /// The bytes of the body that arrived.
        let body: String

        init(_ name: String, _ rest: String, _ kind: TransportError.Kind, leaving body: String = "") {
            (testDescription, self.rest, self.kind, self.body) = (name, rest, kind, body)
        }

        func answer(_ status: Int, fields: String = "") -> Fault {
            .garbage(Data("HTTP/1.1 \(status) Any\r\n\(fields)\(rest)".utf8))
        }
    }

    static let broken = [
        Broken("plain where gzip is said", "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nno", .decodingFailed),
        Broken("cut short", "Content-Length: 9\r\n\r\nhalf", .truncated, leaving: "half"),
        Broken("chunks cut short", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", .truncated, leaving: "half"),
        Broken("no chunks", "Transfer-Encoding: chunked\r\n\r\nzz\r\n", .protocolViolation),
    ]

    @Test(arguments: Subject.networked, broken)
    func `an error response with a broken body is returned with its status`(_ subject: Subject, _ broken: Broken)
        async throws
    {
        try await Lab.run(subject) { lab in
            for status in [401, 403, 404, 429, 503] {
                lab.server.fault = broken.answer(status, fields: "X-Reason: because\r\n")

                let response = try await lab.get("/any")

                #expect(response.status == status)
                #expect(response.headers["X-Reason"] == "because")
                #expect(response.bodyFailure?.kind == broken.kind)
                #expect(try await response.bytes() == Data(broken.body.utf8))
            }
        }
    }

    @Test(arguments: Subject.networked, broken)
    func `a successful response with a broken body is an error`(_ subject: Subject, _ broken: Broken) async throws {
        try await Lab.run(subject) { lab in
            lab.server.fault = broken.answer(200)

            let error = await lab.failure(of: try lab.request("/any"))

            #expect(error?.kind == broken.kind)
        }
    }

    @Test(arguments: Subject.networked)
    func `an error response with a body above the limit is returned with its status`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            server.route(.get, "/large-error", answering: .text(String(repeating: "e", count: 10_000), status: 503))
        } _: { lab in
            let response = try await lab.transport.send(try lab.request("/large-error", limit: 100))

            #expect(response.status == 503)
            #expect(response.bodyFailure?.kind == .bodyTooLarge)
        }
    }

    @Test(arguments: Subject.networked)
    func `a streamed error response is returned with its head, and reading its body throws`(_ subject: Subject)
        async throws
    {
        try await Lab.run(subject) { lab in
            lab.server.fault = Self.broken[1].answer(503)

            let response = try await lab.transport.send(try lab.request("/any", delivery: .stream))

            #expect(response.status == 503)
            #expect(response.bodyFailure == nil)
            await #expect(throws: TransportError.self) { try await response.bytes() }
        }
    }

    @Test(arguments: Subject.networked)
    func `a complete body has no bodyFailure`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            server.route(.get, "/gone", answering: .text("gone", status: 410))
        } _: { lab in
            let response = try await lab.get("/gone")

            #expect(response.bodyFailure == nil)
            #expect(try await response.bytes() == Data("gone".utf8))
        }
    }

    #if os(Linux)
        // Servers send the head and the body of a redirect in two packets. A new connection would cost more than
        // waiting for the second packet.
        @Test func `a redirect whose body follows right after its head keeps the connection`() async throws {
            let listener = try TCPListener()
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            listener.serveAtOnce { connection in
                for _ in 0..<20 {
                    _ = RawHTTP.request(on: connection)
                    RawHTTP.say("HTTP/1.1 302 Any\r\nLocation: /\r\nContent-Length: 4\r\n\r\n", on: connection)
                    RawHTTP.say("here", on: connection)
                }
            }
            var request = HTTPRequest(url: url)
            request.skipsRedirectBody = true

            for number in 0..<20 {
                let response = try await transport.send(request)
                #expect(response.metrics?.reusedConnection == (number > 0))
                #expect(try await response.bytes().isEmpty)
            }
        }

        // The server has its own thread, so that it responds before the timeout on a busy machine.
        @Test(arguments: Subject.networked)
        func `an error response whose body stalls is returned with its status`(_ subject: Subject) async throws {
            let listener = try TCPListener()
            let transport = try subject.makeTransport()
            defer { transport.shutdown() }
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let isOver = DispatchSemaphore(value: 0)
            listener.serveAtOnce { connection in
                _ = RawHTTP.request(on: connection)
                RawHTTP.say("HTTP/1.1 503 Any\r\nContent-Length: 9\r\n\r\nx", on: connection)
                isOver.wait()
            }

            let request = HTTPRequest(url: url, timeouts: .init(idle: .seconds(2)))
            let outcome = await withCheckedContinuation { continuation in
                _ = transport.start(request, progress: nil) { continuation.resume(returning: $0) }
            }
            isOver.signal()
            let response = try outcome.get()

            #expect(response.status == 503)
            #expect(response.bodyFailure?.kind == .timeout)
            #expect(try await response.bytes() == Data("x".utf8))
        }
    #endif

    // MARK: - Redirects

    private static let location = "Location: /text\r\n"

    @Test(arguments: Subject.networked, broken + [Broken("no end", "Content-Length: 9\r\n\r\n", .truncated)])
    func `a redirect with a broken body keeps its Location`(
        _ subject: Subject,
        _ broken: Broken
    ) async throws {
        guard !subject.isLimited else { return limit("a redirect is not reported before its end") }
        try await Lab.run(subject) { lab in
            lab.server.fault = broken.answer(302, fields: Self.location)

            let response = try await lab.get("/moved")

            #expect(response.status == 302)
            #expect(response.headers["Location"] == "/text")
        }
    }

    @Test(arguments: Subject.networked, [false, true])
    func `a redirect with skipsRedirectBody ends with its head, however long its body takes`(
        _ subject: Subject,
        _ isEndless: Bool
    ) async throws {
        guard !subject.isLimited else { return limit("a redirect is not reported before its end") }
        try await Lab.run(subject) { server in
            server.route(.get, "/moved") { _ in
                var response = isEndless ? Self.endless(302) : Self.silent(302)
                response.headers.set("Location", "/text")
                return response
            }
        } _: { lab in
            var request = try lab.request("/moved")
            request.skipsRedirectBody = true

            let response = try await lab.transport.send(request)

            #expect(response.status == 302)
            #expect(try await response.bytes().isEmpty)
            #expect(try await lab.get("/text").status == 200)
        }
    }

    @Test(arguments: Subject.networked)
    func `a response that is not a redirect keeps its body despite skipsRedirectBody`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            server.route(.get, "/choice", answering: .text("choose", status: 300))
            server.route(.get, "/unnamed", answering: .text("nowhere", status: 302))
        } _: { lab in
            // URLSession on Linux does not treat a redirect without Location as a response.
            for path in ["/choice", "/text"] + (subject.isLimited ? [] : ["/unnamed"]) {
                var request = try lab.request(path)
                request.skipsRedirectBody = true
                let body = try await lab.transport.send(request).bytes()
                #expect(!body.isEmpty, "\(path)")
            }
        }
    }

    /// A response with only one byte of its body.
    private static func silent(_ status: Int) -> LoopbackResponse {
        var response = LoopbackResponse.stream { writer in
            try await writer.write(Data("x".utf8))
            try await Task.sleep(for: .seconds(3600))
        }
        response.status = status
        return response
    }

    private static func endless(_ status: Int) -> LoopbackResponse {
        var response = LoopbackResponse.stream { writer in
            while true { try await writer.write(Data(count: 10_000)) }
        }
        response.status = status
        return response
    }
}
