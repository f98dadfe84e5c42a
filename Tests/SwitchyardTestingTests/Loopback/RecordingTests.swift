import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct RecordingTests {
    @Test func `the loopback server records a request unchanged`() async throws {
        let server = try LoopbackServer.running()
        let head = "POST /echo?a=b HTTP/1.1\r\nHost: x\r\nb: 2\r\nA: 1\r\nB: 3\r\nContent-Length: 4\r\n\r\n"
        let socket = try server.connect()

        try await socket.send(head + "\u{0}\u{1}xy")
        _ = try await socket.receiveResponse()

        let request = try #require(server.requests.first)
        #expect(request.method == .post)
        #expect(request.target == "/echo?a=b")
        #expect(request.path == "/echo")
        #expect(
            request.headers.map { "\($0.name)=\($0.value)" } == ["Host=x", "b=2", "A=1", "B=3", "Content-Length=4"]
        )
        #expect(request.headBytes == Data(head.utf8))
        #expect(request.body == Data([0, 1, 120, 121]))
        #expect(request.isComplete)
        #expect(request.status == 200)
        #expect(request.number == 1)
        #expect(request.connection == 1)
    }

    @Test func `recorded requests have a number, a connection and a time`() async throws {
        let server = try LoopbackServer.running()
        let sockets = [try server.connect(), try server.connect()]

        for index in [0, 1, 0] { _ = try await sockets[index].get("/fixed") }

        let requests = server.requests
        #expect(requests.map(\.number) == [1, 2, 3])
        #expect(requests[0].connection == requests[2].connection)
        #expect(requests[0].connection != requests[1].connection)
        #expect(requests.map(\.time) == requests.map(\.time).sorted())
    }

    @Test func `the loopback server records only the last requests and the first bytes of their bodies`() async throws {
        let server = try LoopbackServer.running(limits: LoopbackLimits(recordedBodyBytes: 3, recordedRequests: 2))
        let socket = try server.connect()

        for index in 1...7 {
            try await socket.send(RawSocket.request("/echo?\(index)", method: "POST", body: "hello"))
            _ = try await socket.receiveResponse()
        }

        #expect(server.requests.map(\.target) == ["/echo?6", "/echo?7"])
        #expect(server.requests.map(\.text) == ["hel", "hel"])
        #expect(server.requests.map(\.bodyCount) == [5, 5])
        #expect(server.statistics.requestsCompleted == 7)
    }

    @Test func `the recorded requests of a server can be cleared`() async throws {
        let server = try LoopbackServer.running()
        let socket = try server.connect()
        _ = try await socket.get("/fixed")

        server.clearRecords()
        _ = try await socket.get("/topics")

        #expect(server.requests.map(\.path) == ["/topics"])
        #expect(server.requests.map(\.status) == [200])
        #expect(server.statistics.requestsReceived == 1)
        #expect(server.statistics.connectionsAccepted == 0)
        #expect(server.statistics.connectionsOpen == 1)
    }

    @Test func `a test can wait for requests without sleeping`() async throws {
        let server = try LoopbackServer.running()
        async let hasCome = server.waitForRequests(3)
        let socket = try server.connect()

        for _ in 0..<3 { _ = try await socket.get("/fixed") }

        #expect(await hasCome)
        #expect(await server.waitUntilIdle())
    }

    @Test func `the wait for requests ends when its task is cancelled`() async throws {
        let server = try LoopbackServer.running()
        let waiting = Task { await server.waitForRequests(1) }

        waiting.cancel()

        #expect(await waiting.value == false)
    }

    @Test func `negative recording limits of a server become zero, even if they are set later`() {
        var limits = LoopbackLimits(headBytes: -1, bufferedBodyBytes: -1, recordedBodyBytes: -1, recordedRequests: -1)
        let zero = LoopbackLimits(headBytes: 0, bufferedBodyBytes: 0, recordedBodyBytes: 0, recordedRequests: 0)
        #expect(limits == zero)

        (limits.headBytes, limits.bufferedBodyBytes) = (-1, -1)
        (limits.recordedBodyBytes, limits.recordedRequests) = (-1, -1)

        #expect(limits == zero)
    }

    @Test func `a loopback server may record requests without a limit`() async throws {
        let server = try LoopbackServer.running(
            limits: LoopbackLimits(
                headBytes: .max,
                bufferedBodyBytes: .max,
                recordedBodyBytes: .max,
                recordedRequests: .max
            )
        )
        let socket = try server.connect()

        for _ in 0..<3 {
            try await socket.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody")
            _ = try await socket.receiveResponse()
        }

        #expect(server.requests.map(\.text) == ["body", "body", "body"])
    }
}
