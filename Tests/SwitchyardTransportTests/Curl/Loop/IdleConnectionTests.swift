#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import SwitchyardTransport
    import Testing

    /// A write that is sent at most once does not use a connection that its server may be about to close.
    ///
    /// libcurl and the system measure how long a connection has been idle, so these tests wait in real time.
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

        /// Longer than the allowed idle time of a connection for such a request.
        private func waitIdle() async throws { try await Task.sleep(for: .milliseconds(1_100)) }

        @Test(arguments: [HTTPMethod.post, .put, .delete, .patch])
        func `a write uses no connection that was idle for a second`(
            _ method: HTTPMethod
        ) async throws {
            try await send(method)
            try await waitIdle()
            try await send(method)

            #expect(server.statistics.connectionsAccepted == 2)
            #expect(await server.wait { $0.connectionsOpen == 1 })
        }

        @Test func `a write uses a connection that has just been used`() async throws {
            // On a busy machine a second may pass between both requests, and then a new connection is right.
            for _ in 0..<10 {
                try await send(.post)
                try await waitIdle()
                try await send(.get)
                let accepted = server.statistics.connectionsAccepted
                try await send(.post)
                if server.statistics.connectionsAccepted == accepted { return }
            }
            Issue.record("ten writes in a row used no connection that had just been used")
        }

        @Test(arguments: [HTTPMethod.get, .options])
        func `a request that may be repeated uses an idle connection`(_ method: HTTPMethod) async throws {
            try await send(method)
            try await waitIdle()
            try await send(method)

            #expect(server.statistics.connectionsAccepted == 1)
        }

        @Test func `a write that may be repeated uses an idle connection`() async throws {
            try await send(.post, mayBeRepeated: true)
            try await waitIdle()
            try await send(.post, mayBeRepeated: true)

            #expect(server.statistics.connectionsAccepted == 1)
        }

        @Test func `connections to other servers stay open after a POST`() async throws {
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
