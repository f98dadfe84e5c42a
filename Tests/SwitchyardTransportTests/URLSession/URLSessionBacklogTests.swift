import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// Data that `URLSession` keeps delivering while the reader pauses.
@Suite(.timeLimit(.minutes(5)), .prompt) struct URLSessionBacklogTests {
    private static let (buffer, backlog) = (1 << 20, 4 << 20)

    /// Reads up to 16 MiB, and returns the error that ended the reading.
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

    @Test func `data for a paused reader is buffered up to a limit, and the exchange fails beyond the limit`()
        async throws
    {
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
        // On Linux the server cannot be slowed down and sends until it is cut off. On other systems it may have stopped
        // in time.
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
