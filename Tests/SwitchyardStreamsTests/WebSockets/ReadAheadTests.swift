import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@testable import SwitchyardStreams

/// The connection of a reconnecting WebSocket after a message could not be sent.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ReadAheadTests {
    @Test
    func `after a WebSocket fails to send, incoming messages are read only up to a limit while the app takes none`()
        async throws
    {
        let transport = OneWayTransport(messages: 4_096, size: 1_024)
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport)
        var options = ReconnectingWebSocket.Options()
        options.reconnectionTime = .milliseconds(1)
        options.socket.maximumMessageSize = 1_024
        options.socket.closeTimeout = .seconds(1)
        let socket = client.reconnectingWebSocket(APIConfiguration(path: "live"), options: options)

        let error = await #expect(throws: WebSocketSendFailure.self) { try await socket.send(.text("lost")) }
        // The app takes no message until the connection has ended and the next one is refused.
        await until { transport.openings == 2 }
        var received = 0
        while (try? await socket.receive()) != nil { received += 1 }

        #expect(error == .mayHaveBeenDelivered)
        #expect((1..<1_024).contains(received))
    }
}

/// Opens one connection that delivers messages and sends none, and refuses further ones.
private final class OneWayTransport: Transport {
    private final class Opening: TransportTask {
        func cancel() {}
    }

    private struct OneWay: ByteConnection {
        func send(_ bytes: Data) async throws(TransportError) {
            throw TransportError(.connectionReset, message: "cannot send")
        }
    }

    private let unread: Locked<Int>
    private let frame: Data
    private let opened = Locked(0)

    var openings: Int { opened.withLock { $0 } }

    init(messages: Int, size: Int) {
        unread = Locked(messages)
        frame = Data(SentFrame.serverFrame(.binary, [UInt8](repeating: 1, count: size)))
    }

    func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let isFirst = opened.withLock { count in
            count += 1
            return count == 1
        }
        completion(.success(isFirst ? accept(request) : HTTPResponse(status: 403)))
        return Opening()
    }

    func shutdown() {}

    private func accept(_ request: HTTPRequest) -> HTTPResponse {
        let isCancelled = Locked(false)
        let body = HTTPBodyStream(
            connection: OneWay(),
            cancel: { isCancelled.withLock { $0 = true } },
            next: { [unread, frame] () throws(TransportError) in
                if isCancelled.withLock({ $0 }) { throw TransportError(.cancelled, message: "cancelled") }
                return unread.withLock { count in
                    count -= 1
                    return count < 0 ? nil : frame
                }
            }
        )
        let key = request.headers["Sec-WebSocket-Key"] ?? ""
        let digest = SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        let headers: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Accept": Data(digest).base64EncodedString(),
        ]
        return HTTPResponse(status: 101, headers: headers, body: .stream(body))
    }
}
