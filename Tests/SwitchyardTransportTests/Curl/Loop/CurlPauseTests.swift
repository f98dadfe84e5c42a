#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// Bodies whose end arrives while the reader pauses.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlPauseTests {
        /// The limits fall on all positions within the chunks that libcurl delivers after a pause.
        @Test(arguments: Array(stride(from: 260_000, to: 330_000, by: 5_000)))
        func `a body that exceeds the limit never appears complete, wherever its reader paused`(_ limit: Int)
            async throws
        {
            let server = LoopbackServer()
            server.route(.get, "/body", answering: .data(Data.pattern(limit + 1)))
            try server.start()
            var configuration = CurlTransport.Configuration()
            configuration.streamBufferSize = 256 << 10
            let transport = try CurlTransport(configuration: configuration)
            let url = try #require(RequestURL(server.baseURL + "/body"))
            var request = HTTPRequest(url: url, delivery: .stream, responseBodyLimit: limit)
            request.timeouts.total = .seconds(240)

            let response = try await transport.send(request)
            guard case .stream(let stream) = response.body else { return #expect(Bool(false), "expected a stream") }
            // Only then does the transfer pause with all of its data: 256 KiB wait for the reader, and the rest waits
            // for that.
            _ = await Settling.value { server.statistics.connectionsOpen }

            await #expect {
                for try await _ in stream {}
            } throws: {
                ($0 as? TransportError)?.kind == .bodyTooLarge
            }
        }
    }
#endif
