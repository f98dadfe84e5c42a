import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct TimedFaultTests {
    let server: LoopbackServer

    init() throws {
        server = try .running()
    }

    /// How long the body takes on the system's clock.
    private func duration(of body: () async throws -> Void) async rethrows -> Duration {
        try await ContinuousClock().measure { try await body() }
    }

    @Test func `a slow server responds after its delay`() async throws {
        server.fault = .slow(by: .milliseconds(40))
        let socket = try server.connect()

        let duration = try await duration { _ = try await socket.get("/topics") }

        #expect(duration >= .milliseconds(40))
    }

    @Test func `the requests to a server with the slow fault do not wait for each other`() async throws {
        server.fault = .slow(by: .milliseconds(50))
        let sockets = try (0..<20).map { _ in try server.connect() }

        for socket in sockets { try await socket.send(RawSocket.request("/fixed")) }
        for socket in sockets { #expect(try await socket.receiveResponse().text == "fixed") }

        let times = server.requests.map(\.time)
        #expect(times.count == 20)
    }

    @Test func `the delay of a slow server ends when its client disconnects`() async throws {
        server.fault = .slow(by: .seconds(3600))
        do {
            let socket = try server.connect()
            try await socket.send(RawSocket.request("/topics"))
            await server.waitForRequests(1)
        }

        #expect(await server.wait { $0.connectionsOpen == 0 && $0.requestsInProgress == 0 })
    }

    @Test(arguments: ["/fixed", "/chunks"]) func `a dripping body arrives completely and a few bytes at a time`(
        target: String
    ) async throws {
        let whole = try await server.connect().get(target).text
        server.fault = .drip(bytes: 2, every: .milliseconds(5))
        let socket = try server.connect()

        var response = RawResponse(statusLine: "", fields: [])
        let duration = try await duration { response = try await socket.get(target) }

        #expect(response.text == whole)
        #expect(duration >= .milliseconds(5) * ((whole.count + 1) / 2 - 1))
        #expect(try await socket.get("/empty").status == 204)
    }

    @Test func `a dripping response ends when its client disconnects`() async throws {
        server.fault = .drip(bytes: 1, every: .seconds(3600))
        do {
            let socket = try server.connect()
            try await socket.send(RawSocket.request("/fixed"))
            _ = try await socket.receive(exactly: 20)
        }

        #expect(await server.wait { $0.connectionsOpen == 0 && $0.requestsInProgress == 0 })
    }

    @Test func `a flapping status fault alternates with normal responses`() async throws {
        server.fault = .flap(.status(500), period: .milliseconds(20))
        let socket = try server.connect()

        var changes = 0
        var last = 500
        while changes < 4 {
            let status = try await socket.get("/fixed").status
            if status != last { changes += 1 }
            last = status
        }

        #expect(Set(server.requests.compactMap(\.status)) == [200, 500])
    }

    @Test func `a flapping refusal closes the port and reopens it by itself`() async throws {
        server.fault = .flap(.refuse, period: .milliseconds(20))

        for _ in 0..<3 {
            let socket = try server.connectWhenListening()
            // Closed by the next refusal.
            #expect(try await socket.receiveToEnd().bytes.isEmpty)
        }
    }

    @Test func `a flapping hang releases the requests that it held when it becomes inactive`() async throws {
        server.fault = .flap(.hang, period: .milliseconds(40))
        let socket = try server.connect()

        for _ in 0..<20 { #expect(try await socket.get("/fixed").text == "fixed") }
    }

    @Test func `a percentage fault does not affect the requests that it does not choose`() async throws {
        server.fault = .percentage(25, of: .status(500), seed: 42)
        let socket = try server.connect()

        for _ in 0..<400 { _ = try await socket.get("/fixed") }

        let failed = server.requests.filter { $0.status == 500 }.count
        #expect((60...140).contains(failed))
    }

    @Test func `two percentage faults with equal seeds affect the same requests`() async throws {
        let socket = try server.connect()
        for _ in 0..<2 {
            server.fault = .percentage(50, of: .status(500), seed: 9)
            for _ in 0..<50 { _ = try await socket.get("/fixed") }
        }

        let statuses = server.requests.map(\.status)

        #expect(Array(statuses[..<50]) == Array(statuses[50...]))
        #expect(Set(statuses) == [200, 500])
    }
}
