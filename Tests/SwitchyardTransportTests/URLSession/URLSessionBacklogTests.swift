import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// What `URLSession` continues delivering to a reader that does not read.
@Suite(.timeLimit(.minutes(5)), .prompt) struct URLSessionBacklogTests {
    private static let (buffer, backlog) = (1 << 20, 4 << 20)

    /// Reads up to 16 MiB; the error that ended it.
    private func read(_ response: HTTPResponse) async -> (count: Int, error: TransportError?) {
        guard case .stream(let stream) = response.body else { return (0, nil) }
        var iterator = stream.makeAsyncIterator()
        var count = 0
        do throws(TransportError) {
            while count < 16 << 20, let piece = try await iterator.next() { count += piece.count }
            return (count, nil)
        } catch {
            return (count, error)
        }
    }

    @Test func `it is kept up to a limit, and the exchange ends beyond it`() async throws {
        let (sent, end) = (Locked(0), Latch())
        let server = LoopbackServer()
        server.route(.get, "/endless") { _ in
            .stream { writer in
                defer { end.open() }
                while true {
                    try await writer.write(Data(count: 65_536))
                    sent.withLock { $0 += 65_536 }
                }
            }
        }
        try server.start()
        defer { server.stop() }
        var configuration = URLSessionTransport.Configuration()
        configuration.streamBufferSize = Self.buffer
        configuration.maximumBacklog = Self.backlog
        let transport = try URLSessionTransport(configuration: configuration)
        defer { transport.shutdown() }
        let url = try #require(RequestURL("\(server.baseURL)/endless"))

        let response = try await transport.send(HTTPRequest(url: url, delivery: .stream))
        // On Linux the server cannot be slowed down and goes on until it is cut off; elsewhere it may have stopped in time.
        #if os(Linux)
            await end.wait()
        #else
            _ = await Settling.value { sent.withLock { $0 } }
        #endif
        let (count, error) = await read(response)

        #if os(Linux)
            #expect(error != nil)
        #endif
        if let error {
            #expect(error.kind == .bodyTooLarge)
            #expect(count >= Self.backlog)
            #expect(count < 2 * Self.backlog)
        } else {
            #expect(count >= 16 << 20)
        }
    }
}
