import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ManyConnectionsTests {
    @Test func `a thousand concurrent connections are served`() async throws {
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

    #if os(Linux)
        @Test(.startsProcess) func `a server without free descriptors accepts connections again when some are free`()
            async
        {
            // In its own process, whose descriptor limit affects no other test.
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer.running()
                let sockets = try (0..<20).map { _ in try server.connect() }
                await server.wait { $0.connectionsOpen == 20 }
                try await Self.openTimers()
                let lowestFree = dup(0)
                close(lowestFree)

                // The limit allows one more client socket, but not the server's side of it.
                let old = DescriptorLimit.current
                DescriptorLimit.current = Int(lowestFree) + 1
                let late = try server.connect()
                try await late.send(RawSocket.request("/fixed"))
                #expect(try await late.staysSilent())
                DescriptorLimit.current = old

                #expect(try await late.receiveResponse().text == "fixed")
                #expect(sockets.count == 20)
            }
        }

        /// Makes the system open the descriptors of its timers, one for each clock, which happens with the first timer.
        private static func openTimers() async throws {
            try await Task.sleep(for: .milliseconds(1), clock: .continuous)
            try await Task.sleep(for: .milliseconds(1), clock: .suspending)
        }
    #endif

    /// Raises the descriptor limit for the test, because macOS starts with 256.
    private func raiseDescriptorLimit() {
        DescriptorLimit.current = max(DescriptorLimit.current, 4096)
    }
}

/// The descriptor limit of this process.
private enum DescriptorLimit {
    static var current: Int {
        get { Int(clamping: limits.rlim_cur) }
        set {
            var limits = limits
            limits.rlim_cur = min(rlim_t(newValue), limits.rlim_max)
            _ = setrlimit(resource, &limits)
        }
    }

    private static var limits: rlimit {
        var limits = rlimit()
        _ = getrlimit(resource, &limits)
        return limits
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
