import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A server that processes a request that it has read even if its client has disconnected.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LateExecutionFaultTests {
    let server: LoopbackServer
    private let bodies = Locked<[String]>([])

    init() throws {
        server = try .running()
        server.route(.post, "/late") { [bodies] request in
            let body = String(decoding: try await request.body.collect(), as: UTF8.self)
            bodies.withLock { $0.append(body) }
            return .text("late")
        }
    }

    /// Sends a request and closes the connection before the response.
    private func sendAndLeave(_ number: Int = 1) async throws {
        do {
            let socket = try server.connect()
            try await socket.send(RawSocket.request("/late", method: "POST", body: "pay"))
            await server.waitForRequests(number)
        }
        await server.wait { $0.connectionsOpen == 0 }
    }

    @Test func `a paused server processes the requests that it has read when it resumes`() async throws {
        server.fault = .pause
        try await sendAndLeave()
        let before = bodies.withLock { $0 }

        server.fault = nil
        await server.waitUntilIdle()

        #expect(before.isEmpty)
        #expect(bodies.withLock { $0 } == ["pay"])
    }

    @Test func `a paused server responds to waiting clients when it resumes`() async throws {
        server.fault = .pause
        let socket = try server.connect()
        try await socket.send(RawSocket.request("/late", method: "POST", body: "pay"))
        await server.waitForRequests(1)

        server.fault = nil

        #expect(try await socket.receiveResponse().text == "late")
    }

    @Test func `a server with the executesLate fault processes a request after its delay`() async throws {
        server.fault = .executesLate(after: .milliseconds(200))
        try await sendAndLeave()

        await server.waitUntilIdle()

        #expect(bodies.withLock { $0 } == ["pay"])
    }

    @Test func `a hanging server drops the requests of disconnected clients`() async throws {
        server.fault = .hang
        try await sendAndLeave()

        server.fault = nil
        await server.waitUntilIdle()

        #expect(bodies.withLock { $0 }.isEmpty)
    }

    @Test(arguments: [Fault.refuse, .status(503)])
    func `if refusals or a fixed status follow a pause, the server drops the requests that it has read`(fault: Fault)
        async throws
    {
        server.fault = .pause
        try await sendAndLeave()

        server.fault = fault
        await server.waitUntilIdle()

        #expect(bodies.withLock { $0 }.isEmpty)
    }

    @Test func `a stopped server processes no further request`() async throws {
        server.fault = .pause
        try await sendAndLeave()

        server.stop()
        server.fault = nil

        #expect(server.statistics.requestsInProgress == 0)
        #expect(bodies.withLock { $0 }.isEmpty)
    }
}
