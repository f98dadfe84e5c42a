#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// Connections over an earlier network path are not reused.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct RetiredConnectionTests {
        private let server = LoopbackServer()
        private let latch = Latch()
        private let url: RequestURL

        init() throws {
            server.route(.get, "/text", answering: .text("hello"))
            server.route(.get, "/held") { [latch] _ in
                await latch.wait()
                return .text("late")
            }
            try server.start()
            url = try #require(RequestURL(server.baseURL + "/text"))
        }

        private func held() throws -> HTTPRequest {
            HTTPRequest(url: try #require(RequestURL(server.baseURL + "/held")))
        }

        @Test func `a request uses a new connection after the old connections were retired`() async throws {
            let transport = try CurlTransport()
            _ = try await transport.send(HTTPRequest(url: url))
            _ = try await transport.send(HTTPRequest(url: url))

            transport.retireConnections()
            let response = try await transport.send(HTTPRequest(url: url))

            #expect(response.status == 200)
            #expect(server.statistics.connectionsAccepted == 2)
            #expect(await server.wait { $0.connectionsOpen == 1 })
        }

        @Test
        func `after connections are retired, a request with its own TLS configuration also uses a new connection`()
            async throws
        {
            let transport = try CurlTransport()
            var request = HTTPRequest(url: url)
            request.tls = TLSConfiguration(minimumVersion: .tls13)
            _ = try await transport.send(request)

            transport.retireConnections()
            _ = try await transport.send(request)

            #expect(server.statistics.connectionsAccepted == 2)
        }

        @Test func `an active exchange continues on its retired connection`() async throws {
            let transport = try CurlTransport()
            async let late = transport.send(try held())
            #expect(await server.waitForRequests(1))

            transport.retireConnections()
            _ = try await transport.send(HTTPRequest(url: url))
            latch.open()

            #expect(try await late.bytes() == Data("late".utf8))
            #expect(await server.wait { $0.connectionsOpen == 1 })
        }

        @Test func `a shutdown ends an active exchange on a retired connection`() async throws {
            let transport = try CurlTransport()
            let request = try held()
            let late = Task { try await transport.send(request) }
            #expect(await server.waitForRequests(1))
            transport.retireConnections()

            transport.shutdown()

            await #expect(throws: TransportError.self) { try await late.value }
            #expect(await server.wait { $0.connectionsOpen == 0 })
            latch.open()
        }

        @Test func `no request is lost while connections are retired repeatedly`() async throws {
            let transport = try CurlTransport()
            let url = url

            let answered = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var answered = 0
                        for _ in 0..<25 {
                            transport.retireConnections()
                            if let response = try? await transport.send(HTTPRequest(url: url)) {
                                answered += response.status == 200 ? 1 : 0
                            }
                        }
                        return answered
                    }
                }
                return await group.reduce(0, +)
            }

            #expect(answered == 200)
            transport.retireConnections()
            #expect(await server.wait { $0.connectionsOpen == 0 })
        }

        @Test func `a client retires its connections when the network path changes`() async throws {
            let client = try NetworkClient(service: .loopback([server]), transport: try CurlTransport())
            _ = try await client.send(APIConfiguration(path: "text"))

            client.networkPathChanged()
            _ = try await client.send(APIConfiguration(path: "text"))

            #expect(server.statistics.connectionsAccepted == 2)
        }

        @Test func `a client retires its connections when the network returns, but not if it stayed online`()
            async throws
        {
            let client = try NetworkClient(service: .loopback([server]), transport: try CurlTransport())
            _ = try await client.send(APIConfiguration(path: "text"))
            client.networkChanged(isOnline: true)
            _ = try await client.send(APIConfiguration(path: "text"))
            #expect(server.statistics.connectionsAccepted == 1)

            client.networkChanged(isOnline: false)
            client.networkChanged(isOnline: true)
            _ = try await client.send(APIConfiguration(path: "text"))

            #expect(server.statistics.connectionsAccepted == 2)
        }
    }
#endif
