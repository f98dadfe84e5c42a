#if os(Linux)
    import Dispatch
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTesting
    import Testing

    /// A request leaves the connection that it opens and uses another one that is ready for HTTP/2.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct MovedRequestTests {
        private static let size = 32 << 20

        /// A server of one large response over HTTP/1.1, which counts the bytes that it has sent.
        private static func serveDownload(_ sent: Locked<Int>) throws -> LoopbackServer {
            let server = LoopbackServer()
            server.route(.get, "/large") { _ in
                .stream(length: Self.size) { writer in
                    for _ in 0..<(Self.size >> 16) {
                        try await writer.write(Data(count: 1 << 16))
                        sent.withLock { $0 += 1 << 16 }
                    }
                }
            }
            try server.start()
            return server
        }

        @Test(.startsProcess)
        func `a failed request does not affect a download that reuses its old socket number`()
            async
        {
            // In its own process, where no other test opens a socket with that number.
            await #expect(processExitsWith: .success) {
                let (lab, sent) = (try HTTP2Lab(), Locked(0))
                let download = try Self.serveDownload(sent)
                let (isOpened, isMoved, end) = (Latch(), Latch(), DispatchSemaphore(value: 0))
                let server = try lab.serve { event in
                    switch event {
                    case .head(3, _):
                        isMoved.open()
                        return []
                    case .head(5, _): return [.reset(3, .internalError)] + HTTP2Frame.answer("ok", to: 5)
                    case .head(let stream, _): return HTTP2Frame.answer("ok", to: stream)
                    default: return []
                    }
                }
                let relay = try TCPRelay(to: [server.url], count: 4) { index in
                    if index == 0 { isOpened.open() }
                    if index == 0 { end.wait() }
                    return index != 0
                }
                defer { end.signal() }
                let request = try lab.request(at: relay.url)
                let moved = Task { await lab.failure(of: request) }
                await isOpened.wait()
                #expect(try await lab.send(request).status == 200)
                await isMoved.wait()

                // The reader takes nothing, so the transport does not watch the socket of the download.
                let response = try await lab.send(try lab.request(at: download.baseURL + "/large", .stream))
                var before = -1
                while before != sent.withLock({ $0 }) {
                    before = sent.withLock { $0 }
                    try await Task.sleep(for: .milliseconds(200))  // The delay is part of the test.
                }
                #expect(try await lab.send(request).status == 200)

                #expect(await moved.value != nil)
                // The events of all sockets have been handled when a further request ends.
                #expect(try await lab.send(request).status == 200)
                #expect(try await response.bytes().count == Self.size)
            }
        }
    }
#endif
