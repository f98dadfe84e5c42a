import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardStreams

/// Each message of a reconnecting WebSocket is delivered at most once, whatever becomes of its connections.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DeliveredOnceTests {
    private struct Torn: Error {}

    @Test(arguments: 0..<4)
    func `a WebSocket message is delivered at most once, and no delivered message is reported as undelivered`(
        seed: UInt64
    )
        async throws
    {
        let delivered = Locked<[Int: Int]>([:])
        let random = Locked(SeededGenerator(seed: seed))
        @Sendable func draw(_ range: Range<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }
        let server = try WebSocketServer { peer in
            for _ in 0..<draw(0..<12) {
                let message = try peer.readMessage()
                guard message.opcode != .close else { return }
                let number = Int(String(decoding: message.payload.prefix { $0 != 32 }, as: UTF8.self)) ?? -1
                delivered.withLock { $0[number, default: 0] += 1 }
            }
            switch draw(0..<3) {
            case 0: peer.reset()
            case 1: try peer.writeClose(1001)
            default: peer.close()
            }
        }
        let client = try NetworkClient(service: .at([server.baseURL]), options: .init(seed: seed))
        var options = ReconnectingWebSocket.Options()
        options.reconnectionTime = .milliseconds(5)
        options.longestWait = .milliseconds(10)
        options.queueByteLimit = 64 << 20
        options.socket.fragmentSize = 60_000
        let socket = client.reconnectingWebSocket(APIConfiguration(path: "live"), options: options) { _ in
            if draw(0..<4) == 0 { throw Torn() }
            return .fail
        }
        let reader = Task { while (try? await socket.receive()) != nil {} }
        let outcomes = await withTaskGroup(of: (Int, WebSocketSendFailure?).self) { group in
            for number in 0..<160 {
                let text = "\(number) " + String(repeating: "x", count: draw(0..<5) == 0 ? 300_000 : 10)
                let isCancelled = draw(0..<6) == 0
                group.addTask {
                    let send = Task { () -> WebSocketSendFailure? in
                        do throws(WebSocketSendFailure) {
                            try await socket.send(.text(text))
                            return nil
                        } catch { return error }
                    }
                    if isCancelled {
                        try? await Task.sleep(for: .milliseconds(draw(0..<30)))
                        send.cancel()
                    }
                    return (number, await send.value)
                }
                if number % 20 == 19 { try? await Task.sleep(for: .milliseconds(5)) }
            }
            if seed % 2 == 1 {
                try? await Task.sleep(for: .milliseconds(200))
                socket.close()
            }
            return await group.reduce(into: [Int: WebSocketSendFailure?]()) { $0[$1.0] = .some($1.1) }
        }
        socket.close()
        server.stop()
        reader.cancel()
        client.shutdown()

        let counts = delivered.withLock { $0 }
        #expect(counts.values.allSatisfy { $0 == 1 }, "\(counts.filter { $0.value > 1 })")
        for (number, outcome) in outcomes {
            switch outcome {
            case .none, .mayHaveBeenDelivered?: break
            case let failure?: #expect(counts[number] == nil, "\(number): \(failure)")
            }
        }
    }
}
