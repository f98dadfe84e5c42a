import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct FollowedResponseTests {
    private static let unasked = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"
    let server: LoopbackServer
    let clock = ManualClock()

    init() throws {
        server = try .running()
    }

    private func follow(_ response: LoopbackResponse, after delay: Duration = .zero) {
        let followed = response.followed(by: Data(Self.unasked.utf8), after: delay, on: clock)
        server.route(.get, "/followed") { _ in followed }
        server.route(.get, "/fixed-followed", answering: followed)
    }

    private func receiveUnasked(_ socket: RawSocket) async throws -> String {
        String(decoding: try await socket.receive(exactly: Self.unasked.utf8.count), as: UTF8.self)
    }

    @Test(arguments: ["/followed", "/fixed-followed"])
    func `extra bytes after a response arrive immediately, and the connection stays open`(target: String)
        async throws
    {
        follow(.text("asked"))
        let socket = try server.connect()

        for _ in 0..<2 {
            #expect(try await socket.get(target).text == "asked")
            #expect(try await receiveUnasked(socket) == Self.unasked)
        }

        #expect(try await socket.get("/fixed").text == "fixed")
        #expect(server.statistics.connectionsAccepted == 1)
    }

    @Test(arguments: ["stream", "empty", "head"])
    func `extra bytes after a response arrive, whichever way the end of its body is marked`(kind: String) async throws {
        follow(kind == "stream" ? .stream { try await $0.write("piece") } : .status(kind == "empty" ? 204 : 200))
        let socket = try server.connect()

        let response = try await socket.get("/followed", method: kind == "head" ? "HEAD" : "GET")

        #expect(response.text == (kind == "stream" ? "piece" : ""))
        #expect(try await receiveUnasked(socket) == Self.unasked)
    }

    @Test func `delayed extra bytes after a response arrive when the clock reaches their time`() async throws {
        follow(.text("asked"), after: .seconds(60))
        let socket = try server.connect()

        #expect(try await socket.get("/followed").text == "asked")
        await clock.waitForTimers(1)
        clock.advance(by: .seconds(59))
        #expect(try await socket.staysSilent())
        clock.advance(by: .seconds(1))

        #expect(try await receiveUnasked(socket) == Self.unasked)
        #expect(try await socket.get("/fixed").text == "fixed")
    }

    @Test func `the delay of extra bytes after a response uses the system's clock by default`() async throws {
        server.route(
            .get,
            "/followed",
            answering: .text("asked").followed(by: Data(Self.unasked.utf8), after: .milliseconds(1))
        )
        let socket = try server.connect()

        #expect(try await socket.get("/followed").text == "asked")

        #expect(try await receiveUnasked(socket) == Self.unasked)
    }

    @Test func `extra bytes with several delays arrive in the order of the delays`() async throws {
        let response = LoopbackResponse.text("asked")
            .followed(by: Data("a".utf8))
            .followed(by: Data("c".utf8), after: .seconds(2), on: clock)
            .followed(by: Data("b".utf8), after: .seconds(1), on: clock)
        server.route(.get, "/followed", answering: response)
        let socket = try server.connect()

        _ = try await socket.get("/followed")
        await clock.waitForTimers(2)
        clock.advance(by: .seconds(2))

        #expect(try await socket.receive(exactly: 3) == Data("abc".utf8))
    }

    @Test func `delayed extra bytes arrive before the response to a later request`() async throws {
        follow(.text("asked"), after: .seconds(1))
        let (release, continuation) = AsyncStream.makeStream(of: Void.self)
        server.route(.get, "/held") { _ in
            for await _ in release {}
            return .text("held")
        }
        let socket = try server.connect()

        _ = try await socket.get("/followed")
        await clock.waitForTimers(1)
        try await socket.send(RawSocket.request("/held"))
        await server.waitForRequests(2)
        clock.advance(by: .seconds(1))
        #expect(try await receiveUnasked(socket) == Self.unasked)
        continuation.finish()

        #expect(try await socket.receiveResponse().text == "held")
    }

    @Test func `a connection that closes after its response sends undelayed extra bytes and drops delayed ones`()
        async throws
    {
        server.route(
            .get,
            "/followed",
            answering: .text("asked").followed(by: Data("now".utf8))
                .followed(by: Data("later".utf8), after: .seconds(1), on: clock)
        )
        let socket = try server.connect()

        _ = try await socket.get("/followed", fields: ["Connection: close"])

        #expect(try await socket.receiveToEnd() == RawSocket.Rest(bytes: Data("now".utf8), end: .closed))
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a raw response can be followed by extra bytes too`() async throws {
        server.route(.get, "/raw", answering: .raw(Data("odd ".utf8)).followed(by: Data("end".utf8)))
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/raw"))

        #expect(try await socket.receiveToEnd().text == "odd end")
    }

    @Test func `a truncated response is not followed by extra bytes`() async throws {
        follow(.text("asked"))
        server.fault = .truncate(after: 2)
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/followed"))

        #expect(try await socket.receiveToEnd().text.hasSuffix("\r\n\r\nas"))
    }

    @Test func `closing a connection cancels the timers of its delayed extra bytes`() async throws {
        follow(.text("asked"), after: .seconds(1))
        let socket = try server.connect()
        _ = try await socket.get("/followed")
        await clock.waitForTimers(1)

        server.closeConnections()

        #expect(clock.pendingTimers == 0)
        #expect(try await socket.receiveToEnd().bytes.isEmpty)
    }

    @Test func `each recorded request has the number of its connection and its own position on that connection`()
        async throws
    {
        server.route(.get, "/where") { .text("\($0.connection).\($0.numberOnConnection)") }
        let sockets = [try server.connect(), try server.connect()]
        // The first response shows which of both connections was accepted first.
        let first = try await sockets[0].get("/where").text
        let other = first == "1.1" ? 2 : 1

        var answers: [String] = []
        for index in [1, 0, 0, 1] { answers.append(try await sockets[index].get("/where").text) }

        #expect(answers == ["\(other).1", "\(3 - other).2", "\(3 - other).3", "\(other).2"])
        #expect(server.requests.map { "\($0.connection).\($0.numberOnConnection)" } == [first] + answers)
    }
}
