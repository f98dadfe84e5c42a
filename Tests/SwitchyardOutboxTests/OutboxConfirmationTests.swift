import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// Responses that confirm that a server has accepted a write.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxConfirmationTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
    private static let page = Data("<!DOCTYPE html><title>Log in</title>".utf8)

    private func outbox(
        _ options: Outbox.Options = Outbox.Options(),
        answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (Outbox, StubTransport) {
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: ManualClock(), answer)
        return (try Outbox(file: file, client: client, options: options), transport)
    }

    private func write(_ method: HTTPMethod = .post) -> APIConfiguration {
        var write = APIConfiguration(path: "notes", method: method, timeout: .seconds(3_600))
        write.body = .json(["title": "a"])
        return write
    }

    /// Flushes once and returns the event after `stored`.
    private func end(of write: APIConfiguration, in outbox: Outbox) async throws -> OutboxEvent? {
        var events = outbox.events().makeAsyncIterator()
        try outbox.store(write)
        try await outbox.flush()
        _ = await events.next()
        return await events.next()
    }

    private static func isPage(_ request: HTTPRequest) -> Bool { request.url.text.contains("login") }

    @Test(
        arguments: [301, 302, 303],
        ["/login", "http://portal.test/login"]
    )
    func `a write that is redirected to a login page stays stored`(status: Int, place: String) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { request in
            guard Self.isPage(request) else { return .status(status, headers: ["Location": place]) }
            return .status(200, headers: ["Content-Type": "text/html"], body: Self.page)
        }

        let event = try await end(of: write(), in: outbox)

        guard case .unconfirmed(let entry, _, .redirected(status), let pause) = event else {
            Issue.record("expected an unconfirmed write, not \(String(describing: event))")
            return
        }
        #expect(pause == .seconds(5))
        #expect(entry.mayHaveBeenExecuted)
        #expect(outbox.entries.count == 1)
    }

    @Test func `a redirect that turns a write into a GET does not confirm the write`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { request in
            request.method == .post ? .status(302, headers: ["Location": "/other"]) : .json("{}")
        }

        let event = try await end(of: write(), in: outbox)

        guard case .unconfirmed(_, _, .redirected(302), _) = event else {
            Issue.record("expected an unconfirmed write, not \(String(describing: event))")
            return
        }
    }

    @Test(arguments: [200, 404, 500])
    func `a 303 response from the requested URL confirms the write`(outcome: Int) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { request in
            request.method == .post ? .status(303, headers: ["Location": "/notes/7"]) : .status(outcome)
        }

        let event = try await end(of: write(), in: outbox)

        guard case .sent = event else {
            Issue.record("expected a write that was sent, not \(String(describing: event))")
            return
        }
        #expect(outbox.entries == [])
    }

    @Test func `a 303 response of another host, to which the write was redirected, does not confirm the write`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox { request in
            guard request.method == .post else { return .json("{}") }
            let isPortal = request.url.origin.host == "portal.test"
            return isPortal
                ? .status(303, headers: ["Location": "/done"])
                : .status(307, headers: ["Location": "//portal.test/notes"])
        }

        let event = try await end(of: write(), in: outbox)

        guard case .unconfirmed(_, _, .redirected(303), _) = event else {
            Issue.record("expected an unconfirmed write, not \(String(describing: event))")
            return
        }
        #expect(transport.requests.map(\.method) == [.post, .post, .get])
        #expect(outbox.entries.count == 1)
    }

    @Test(arguments: [(HTTPMethod.post, 307), (.post, 308), (.put, 301), (.delete, 302)])
    func `a redirect that keeps the method confirms the write by its final response`(
        method: HTTPMethod,
        status: Int
    ) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox { request in
            request.url.path.hasSuffix("notes") ? .status(status, headers: ["Location": "/moved"]) : .status(201)
        }

        let event = try await end(of: APIConfiguration(path: "notes", method: method), in: outbox)

        guard case .sent = event else {
            Issue.record("expected a write that was sent, not \(String(describing: event))")
            return
        }
        #expect(transport.requests.map(\.method) == [method, method])
    }

    @Test(
        arguments: [
            (["Content-Type": "text/html; charset=utf-8"], "Sign in", "text/html"),
            (["Content-Type": "application/xhtml+xml"], "<p/>", "application/xhtml+xml"),
            (["Content-Type": "text/plain"], " \n<HTML><body>", "text/plain"), ([:], "<!doctype html>", nil),
        ] as [(HTTPHeaders, String, String?)]
    )
    func `an HTML page in place of JSON leaves the write stored`(
        headers: HTTPHeaders,
        body: String,
        type: String?
    ) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { _ in .status(200, headers: headers, body: Data(body.utf8)) }

        let event = try await end(of: write(), in: outbox)

        guard case .unconfirmed(_, _, .unacceptable(200, type), _) = event else {
            Issue.record("expected an unconfirmed write, not \(String(describing: event))")
            return
        }
    }

    @Test(
        arguments: [
            (200, [:], "{}"), (201, ["Content-Type": "text/html"], ""), (202, ["Content-Type": "text/plain"], "OK"),
            (204, [:], ""),
        ] as [(Int, HTTPHeaders, String)]
    )
    func `a 2xx response that is not an HTML page confirms a write`(status: Int, headers: HTTPHeaders, body: String)
        async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { _ in .status(status, headers: headers, body: Data(body.utf8)) }

        let event = try await end(of: write(), in: outbox)

        guard case .sent = event else {
            Issue.record("expected a write that was sent, not \(String(describing: event))")
            return
        }
    }

    @Test(arguments: [("/moved", 0), ("http://portal.test/moved", 1)])
    func `an HTML page confirms a write without JSON only if it comes from the host of the request`(
        place: String,
        left: Int
    ) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { request in
            request.url.path.hasSuffix("moved")
                ? .status(200, headers: ["Content-Type": "text/html"], body: Self.page)
                : .status(307, headers: ["Location": place])
        }
        try outbox.store(APIConfiguration(path: "notes/7", method: .delete))

        try await outbox.flush()

        #expect(outbox.entries.count == left)
    }

    @Test(arguments: [
        (StubResponse.status(302, headers: ["Location": "/other"]), "redirected with status 302"),
        (
            .status(200, headers: ["Content-Type": "text/html"], body: page),
            "response with status 200 and content type text/html"
        ),
        (.status(200, body: page), "response with status 200 and no content type"),
    ])
    func `the description of the event for an unconfirmed write contains the response and the pause`(
        response: StubResponse,
        words: String
    ) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { request in request.method == .post ? response : .json("{}") }

        let event = try #require(try await end(of: write(), in: outbox))

        #expect("\(event)".contains(" unconfirmed (\(words)), next attempt in 5.0 seconds"))
    }

    @Test func `an HTML page does not confirm a write that accepts only JSON`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { _ in .status(200, headers: ["Content-Type": "text/html"], body: Self.page) }
        let asking = APIConfiguration(path: "notes/7", method: .delete, headers: ["Accept": "application/json"])

        let event = try await end(of: asking, in: outbox)

        guard case .unconfirmed = event else {
            Issue.record("expected an unconfirmed write, not \(String(describing: event))")
            return
        }
    }

    @Test func `the app may define which responses confirm a stored write`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let answers = AnswerList([
            .status(200), .status(201, headers: ["X-Receipt": "1"]), .status(302, headers: ["X-Receipt": "1"]),
        ])
        let accepts = OutboxAcceptance { _, response in response.headers["X-Receipt"] != nil }
        let (outbox, transport) = try outbox(Outbox.Options(accepts: accepts)) { answers.answer($0) }
        try outbox.store(write())
        try outbox.store(write())

        #expect(try await outbox.flush() == .seconds(5))
        #expect(outbox.entries.count == 2)
        #expect(try await outbox.flush() == nil)

        #expect(outbox.entries == [])
        #expect(transport.requestCount == 3)
    }

    @Test(arguments: [("application/problem+json", "{}", 1), ("application/json", "{}", 0), ("", "", 0)])
    func `an outbox rule with content types accepts responses of these types and responses without a body`(
        type: String,
        body: String,
        left: Int
    ) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let accepts = OutboxAcceptance(contentTypes: [.json])
        let (outbox, _) = try outbox(Outbox.Options(accepts: accepts)) { _ in
            .status(200, headers: type.isEmpty ? [:] : ["Content-Type": type], body: Data(body.utf8))
        }
        try outbox.store(write())

        try await outbox.flush()

        #expect(outbox.entries.count == left)
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
    func `every write that an outbox sends has an idempotency key`(method: HTTPMethod) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox { _ in .status(204) }
        let entry = try outbox.store(APIConfiguration(path: "notes/7", method: method))

        try await outbox.flush()

        #expect(!entry.idempotencyKey.isEmpty)
        #expect(transport.requests.map { $0.headers["Idempotency-Key"] } == [entry.idempotencyKey])
    }

    @Test func `the retry pause of an outbox is reset after a write was sent`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let down = StubResponse.failure(.connectionRefused)
        let answers = AnswerList([down, down, .status(201), down])
        let (outbox, _) = try outbox { answers.answer($0) }
        try outbox.store(write())
        try outbox.store(write())

        var pauses: [Duration?] = []
        for _ in 0..<3 { pauses.append(try await outbox.flush()) }

        #expect(pauses == [.seconds(5), .seconds(10), .seconds(5)])
    }
}
