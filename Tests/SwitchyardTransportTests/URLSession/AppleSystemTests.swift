#if canImport(Darwin)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardStreams
    import SwitchyardTesting
    import SwitchyardTransfers
    import SwitchyardTransport
    import Testing

    /// Undocumented behavior of Apple's systems that the library relies on.
    ///
    /// See the article on transports.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct AppleSystemTests {
        private func withServer(_ body: (LoopbackServer) async throws -> Void) async throws {
            let server = LoopbackServer()
            try server.start()
            defer { server.stop() }
            try await body(server)
        }

        @Test func `a response may take longer than a minute`() async throws {
            try await Lab.run(.urlSession) { server in
                server.route(.get, "/late") { _ in
                    try await Task.sleep(for: .seconds(65))
                    return .text("late")
                }
            } _: { lab in
                let response = try await lab.get("/late")

                #expect(response.status == 200)
            }
        }

        @Test func `a request has no Cache-Control and no Pragma field`() async throws {
            try await Lab.run(.urlSession) { lab in
                _ = try await lab.get("/text")

                let received = try #require(lab.server.requests.first?.headers)
                #expect(received["Cache-Control"] == nil)
                #expect(received["Pragma"] == nil)
            }
        }

        @Test func `Authorization and Cookie are sent although URLSession reserves them`() async throws {
            try await Lab.run(.urlSession) { lab in
                let request = try lab.request("/text", headers: ["Authorization": "Bearer a", "Cookie": "a=1"])

                _ = try await lab.transport.send(request)

                let received = try #require(lab.server.requests.first?.headers)
                #expect(received["Authorization"] == "Bearer a")
                #expect(received["Cookie"] == "a=1")
            }
        }

        @Test func `a streamed body arrives completely with or without a known length`() async throws {
            try await Lab.run(.urlSession) { lab in
                let pieces = (0..<8).map { Data(repeating: UInt8($0), count: 100_000) }
                let request = try lab.request("/echo", method: .post, body: .pieces(pieces, length: 800_000))

                let response = try await lab.transport.send(request)

                #expect(try await response.bytes() == pieces.reduce(Data(), +))
                let received = try #require(lab.server.requests.first?.headers)
                #expect(received["Content-Length"] == "800000" || received["Transfer-Encoding"] == "chunked")
            }
        }

        @Test func `new connections replace retired connections`() async throws {
            try await Lab.run(.urlSession) { lab in
                _ = try await lab.get("/text")

                lab.transport.retireConnections()
                for _ in 0..<200 where lab.server.statistics.connectionsAccepted < 2 { _ = try await lab.get("/text") }

                #expect(lab.server.statistics.connectionsAccepted == 2)
            }
        }

        @Test func `metrics report whether a connection was reused`() async throws {
            try await Lab.run(.urlSession) { lab in
                let first = try await lab.get("/text").metrics
                let second = try await lab.get("/text").metrics

                #expect(first?.reusedConnection == false)
                #expect(second?.reusedConnection == true)
                #expect(second?.networkProtocol == "http/1.1")
            }
        }

        @Test(arguments: ["/other", "ws://127.0.0.1:1/other"])
        func `the opening handshake of a WebSocket follows no redirect`(location: String) async throws {
            try await withServer { server in
                let moved = LoopbackResponse(status: 302, headers: ["Location": location])
                server.route(.get, "/socket", answering: moved)
                let url = try #require(RequestURL("\(server.baseURL)/socket"))

                let socket = try WebSocket(HTTPRequest(url: url))

                await #expect { try await socket.receive() } throws: {
                    ($0 as? TransportError)?.kind == .protocolViolation
                }
                #expect(server.requests.map(\.path) == ["/socket"])
            }
        }

        @Test func `a cancel ends the wait for a WebSocket message`() async throws {
            try await withServer { server in
                server.route(.get, "/socket") { _ in
                    try await Task.sleep(for: .seconds(3600))
                    return .text("late")
                }
                let url = try #require(RequestURL("\(server.baseURL)/socket"))
                let socket = try WebSocket(HTTPRequest(url: url))
                let waiting = Task { try await socket.receive() }
                await server.wait { $0.requestsInProgress == 1 }

                waiting.cancel()

                await #expect { try await waiting.value } throws: { ($0 as? TransportError)?.kind == .cancelled }
                socket.close()
            }
        }

        @Test func `creating a second BackgroundDownloads with the same session identifier throws`() throws {
            let identifier = "switchyard.tests.\(UUID())"
            let first = try BackgroundDownloads(identifier: identifier) { _, _ in }

            let error = #expect(throws: DownloadFailure.self) {
                try BackgroundDownloads(identifier: identifier) { _, _ in }
            }

            guard case .request(.transport(let cause)) = error?.reason else {
                return #expect(Bool(false), "unexpected reason")
            }
            #expect(cause.kind == .invalidRequest)
            withExtendedLifetime(first) {}
        }

        @Test func `background downloads cannot be created with a configuration that is not for the background`() {
            #expect(throws: DownloadFailure.self) { try BackgroundDownloads(.ephemeral) { _, _ in } }
        }

        @Test func `the system's network path monitor reports a status`() async {
            let system = SystemReachability()

            let status = await system.updates().first { $0 != .unknown }

            #expect(status != nil)
        }
    }
#endif
