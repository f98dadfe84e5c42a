import Foundation
import SwitchyardClient
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct ManyConnectionsTests {
    @Test func `a thousand connections at once are served`() async throws {
        raiseDescriptorLimit()
        let server = try LoopbackServer.running()
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let gate = Task { for await _ in opened {} }
        server.route(.get, "/gate") { request in
            await gate.value
            return .text("connection \(request.connection)")
        }
        let sockets = try (0..<1000).map { _ in try server.connect() }

        for socket in sockets { try await socket.send(RawSocket.request("/gate")) }
        await server.waitForRequests(1000)
        #expect(server.statistics.connectionsOpen == 1000)
        #expect(server.statistics.requestsInProgress == 1000)
        open.finish()
        var bodies: Set<String> = []
        for socket in sockets { bodies.insert(try await socket.receiveResponse().text) }

        #expect(bodies.count == 1000)
    }

    /// Lets this process open what the test needs; macOS starts with 256.
    private func raiseDescriptorLimit() {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < 4096 else { return }
        limit.rlim_cur = min(4096, limit.rlim_max)
        _ = setrlimit(resource, &limit)
    }
}
