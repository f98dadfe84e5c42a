import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt, .serialized) struct LifecycleTests {
    @Test func `a server listens on a port that the system chooses`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/", answering: .text("here"))

        #expect(server.port == 0)
        try server.start()

        #expect(server.isRunning)
        #expect(server.baseURL == "http://127.0.0.1:\(server.port)")
        #expect(try await server.connect().get("/").text == "here")
    }

    @Test func `a second start and a second stop of the loopback server have no effect`() async throws {
        let server = try LoopbackServer.running()

        try server.start()
        #expect(try await server.connect().get("/fixed").text == "fixed")
        server.stop()
        server.stop()

        #expect(!server.isRunning)
    }

    @Test func `starting the loopback server on a port in use is an error`() throws {
        let server = try LoopbackServer.running()
        let other = LoopbackServer(port: server.port)

        #expect(throws: LoopbackError.portInUse(server.port)) { try other.start() }
        #expect(!other.isRunning)
    }

    @Test func `a stopped server refuses connections and frees its port`() throws {
        let server = try LoopbackServer.runningApart()
        let other = LoopbackServer(port: server.port)

        server.stop()

        #expect(throws: RawSocket.Failure.refused) { try server.connect() }
        try other.start()
        #expect(other.port == server.port)
    }

    @Test func `stopping the loopback server closes connections and cancels handlers`() async throws {
        let server = try LoopbackServer.running()
        server.route(.get, "/forever") { _ in
            for await _ in AsyncStream<Never>.makeStream().stream {}
            throw CancellationError()
        }
        let busy = try server.connect()
        let idle = try server.connect()
        _ = try await idle.get("/fixed")
        try await busy.send(RawSocket.request("/forever"))
        await server.waitForRequests(2)

        server.stop()

        #expect(try await busy.receiveToEnd().bytes.isEmpty)
        #expect(try await idle.receiveToEnd().bytes.isEmpty)
        #expect(server.statistics.connectionsOpen == 0)
        #expect(server.statistics.requestsInProgress == 0)
    }

    @Test func `the connections of the loopback server can be closed while it runs`() async throws {
        let server = try LoopbackServer.running()
        let socket = try server.connect()
        _ = try await socket.get("/fixed")

        server.closeConnections()

        #expect(try await socket.receiveToEnd() == RawSocket.Rest(bytes: Data(), end: .closed))
        #expect(try await server.connect().get("/fixed").text == "fixed")
    }

    @Test func `the loopback server closes a connection that is idle for too long`() async throws {
        let server = try LoopbackServer.running(limits: LoopbackLimits(idleTimeout: .milliseconds(200)))
        let used = try server.connect()
        let unused = try server.connect()
        #expect(try await used.get("/fixed").text == "fixed")

        #expect(try await used.receiveToEnd() == RawSocket.Rest(bytes: Data(), end: .closed))
        #expect(try await unused.receiveToEnd() == RawSocket.Rest(bytes: Data(), end: .closed))
        #expect(await server.wait { $0.connectionsOpen == 0 })
    }

    @Test func `for the loopback server, a connection is not idle while its request waits for a response`() async throws
    {
        let server = try LoopbackServer.running(limits: LoopbackLimits(idleTimeout: .milliseconds(300)))
        let (hold, release) = AsyncStream<Never>.makeStream()
        server.route(.get, "/held") { _ in
            for await _ in hold {}
            return .text("held")
        }
        let busy = try server.connect()
        try await busy.send(RawSocket.request("/held"))
        await server.waitForRequests(1)
        // A later connection is closed first.
        _ = try await server.connect().receiveToEnd()

        release.finish()

        #expect(try await busy.receiveResponse(hasBody: true).text == "held")
        #expect(try await busy.receiveToEnd().end == .closed)
    }

    @Test func `a loopback server stops when it is released`() throws {
        var server: LoopbackServer? = try .runningApart()
        let port = try #require(server?.port)

        server = nil

        #expect(throws: RawSocket.Failure.refused) { try RawSocket(port: port) }
    }

    #if os(Linux)
        @Test(.startsProcess) func `restarting on the same port leaks no descriptor and no thread`() async {
            // In its own process, where no other test opens descriptors.
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer.runningApart()
                try LifecycleTests.exchange(with: server)
                let port = server.port
                server.stop()
                let before = try ProcessTable.current()

                for round in 0..<50 {
                    try server.start()
                    try LifecycleTests.exchange(with: server)
                    server.fault = round.isMultiple(of: 2) ? .refuse : .blackHole
                    if round.isMultiple(of: 3) { server.fault = nil }
                    server.stop()
                    server.fault = nil
                    #expect(server.port == port)
                }

                #expect(try ProcessTable.settles(near: before))
            }
        }
    #endif

    /// A request and its response without another thread.
    private static func exchange(with server: LoopbackServer) throws {
        let socket = try server.connect()
        try socket.sendNow(Data(RawSocket.request("/fixed").utf8))
        let answer = try socket.receiveNow(atMost: 1000, timeout: .seconds(30))
        #expect(String(decoding: answer, as: UTF8.self).hasSuffix("fixed"))
    }
}
