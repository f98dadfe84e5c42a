#if os(Linux)
    import Foundation
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTesting
    import SwitchyardTransport
    import Testing

    /// The order of deadlines after an exchange has been cancelled.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct DeadlineOrderTests {
        // The loop keeps its deadlines in a heap. When the fourth exchange is cancelled, the last one takes its place,
        // below the second one, whose deadline is later.
        @Test func `an exchange times out on time even if an earlier exchange was cancelled`() async throws {
            let (server, latch) = (LoopbackServer(), Latch())
            server.route(.get, "/held") { _ in
                await latch.wait()
                return .text("late")
            }
            try server.start()
            defer { server.stop() }
            defer { latch.open() }
            let transport = try CurlTransport()
            let ends = AsyncStream.makeStream(of: Int.self)
            var tasks: [any TransportTask] = []
            for (number, seconds) in [1, 20, 1, 20, 20, 20, 1].enumerated() {
                let url = try #require(RequestURL(server.baseURL + "/held"))
                let request = HTTPRequest(url: url, timeouts: .init(total: .seconds(seconds)))
                tasks.append(
                    transport.start(request, progress: nil) { _ in ends.continuation.yield(number) }
                )
                #expect(await server.waitForRequests(number + 1))
            }

            tasks[3].cancel()

            var order: [Int] = []
            for await number in ends.stream.prefix(4) { order.append(number) }
            #expect(Set(order) == [0, 2, 3, 6])
            transport.shutdown()
        }
    }
#endif
