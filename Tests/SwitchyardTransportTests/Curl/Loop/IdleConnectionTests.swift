#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import SwitchyardTransport
    import Testing

    /// A write that is sent once only stays away from connections which their server may be about to close.
    ///
    /// How long a connection has been idle is libcurl's and the system's time, so these tests wait.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct IdleConnectionTests {
        private let server = LoopbackServer()
        private let transport: CurlTransport

        init() throws {
            transport = try CurlTransport()
            server.route(nil, "/text", answering: .text("hello"))
            try server.start()
        }

        private func send(_ method: HTTPMethod, mayBeRepeated: Bool? = nil) async throws {
            var request = HTTPRequest(method: method, url: try #require(RequestURL(server.baseURL + "/text")))
            if let mayBeRepeated { request.mayBeRepeated = mayBeRepeated }
            #expect(try await transport.send(request).status == 200)
        }

        /// Longer than such a request lets a connection be idle.
        private func waitIdle() async throws { try await Task.sleep(for: .milliseconds(1_100)) }

        @Test(arguments: [HTTPMethod.post, .put, .delete, .patch])
        func `a write that is sent once takes no connection that was idle for a second`(
            _ method: HTTPMethod
        ) async throws {
            try await send(method)
            try await waitIdle()
            try await send(method)

            #expect(server.statistics.connectionsAccepted == 2)
            #expect(await server.wait { $0.connectionsOpen == 1 })
        }

        @Test func `a write that is sent once takes a connection that has just been used`() async throws {
            try await send(.post)
            try await waitIdle()
            // On a busy machine the loop may see the two requests a second apart, and is right to open a connection then.
            for _ in 0..<10 {
                try await send(.get)
                let accepted = server.statistics.connectionsAccepted
                try await send(.post)
                if server.statistics.connectionsAccepted == accepted { return }
            }
            Issue.record("ten writes in a row took no connection that had just been used")
        }

        @Test(arguments: [HTTPMethod.get, .options])
        func `what may be sent again takes an idle connection`(_ method: HTTPMethod) async throws {
            try await send(method)
            try await waitIdle()
            try await send(method)

            #expect(server.statistics.connectionsAccepted == 1)
        }

        @Test func `a write with a key takes an idle connection, for it may be sent again`() async throws {
            try await send(.post, mayBeRepeated: true)
            try await waitIdle()
            try await send(.post, mayBeRepeated: true)

            #expect(server.statistics.connectionsAccepted == 1)
        }

        @Test func `connections to other servers stay`() async throws {
            let other = LoopbackServer()
            other.route(nil, "/text", answering: .text("hello"))
            try other.start()
            let elsewhere = HTTPRequest(url: try #require(RequestURL(other.baseURL + "/text")))
            _ = try await transport.send(elsewhere)
            try await waitIdle()
            try await send(.post)

            _ = try await transport.send(elsewhere)

            #expect(other.statistics.connectionsAccepted == 1)
        }
    }
#endif
