import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A WebSocket that reconnects when its connection ends.
///
/// If a server fails, the WebSocket connects to the next server of the service.
///
///     let socket = client.reconnectingWebSocket(APIConfiguration(path: "live")) { resumption in
///         try await resumption.socket.send(.text("subscribe news"))
///         return .fail
///     }
///     for try await message in socket.messages { show(message) }
///
/// The first connection is opened immediately. When a connection ends, another connection is opened after a pause. The
/// `resume` closure runs with each new connection before anything else is sent over it.
///
/// Messages wait in a bounded queue until they can be sent. Each call of ``send(_:)`` returns or throws a
/// ``WebSocketSendFailure``. A message that the server may have received is not sent again unless the `resume` closure
/// requests it. Releasing the last reference closes the WebSocket.
public final class ReconnectingWebSocket: Sendable {
    /// The options of a reconnecting WebSocket.
    public struct Options: Sendable {
        /// The options of each connection.
        public var socket = WebSocket.Options()
        /// The pause before the next connection; 1 s unless set, shortened at random by up to a half.
        public var reconnectionTime = Duration.seconds(1)
        /// The maximum pause after consecutive failed connections; 60 s unless set.
        ///
        /// Each failure doubles the pause.
        ///
        /// A pause ends when the network is available again
        /// (``/SwitchyardClient/NetworkClient/networkChanged(isOnline:)``).
        public var longestWait = Duration.seconds(60)
        /// The maximum number of consecutive failed connections; no limit unless set.
        ///
        /// A connection that received a message resets the count.
        public var maximumFailures: Int?
        /// The maximum number of messages that wait to be sent; 256 unless set.
        public var queueLimit = 256
        /// The maximum number of bytes in messages that wait to be sent; 1 MiB unless set.
        public var queueByteLimit = 1 << 20
        /// A closure that decides whether another connection is opened after a connection was closed.
        ///
        /// By default, another connection is opened after every closure, except if the server closed the connection
        /// with ``WebSocket/CloseCode/normal`` or ``WebSocket/CloseCode/policyViolation``.
        public var reconnects: @Sendable (WebSocket.Closure) -> Bool = { closure in
            !closure.isByServer || (closure.code != .normal && closure.code != .policyViolation)
        }

        /// Creates options with default values.
        public init() {}
    }

    /// A new connection, and what the `resume` closure needs to resume the app's session over it.
    public struct Resumption: Sendable {
        /// The new connection.
        ///
        /// Messages that the closure sends over it are sent before all waiting messages.
        public var socket: WebSocket
        /// The messages that were being sent when an earlier connection broke.
        ///
        /// The server may have received them.
        public var interrupted: [WebSocket.Message]
        /// The number of earlier connections; 0 for the first connection.
        public var number: Int
    }

    /// The treatment of messages that the server may have received.
    public enum Interrupted: Sendable, Hashable {
        /// The messages fail with ``WebSocketSendFailure/mayHaveBeenDelivered``.
        case fail
        /// The messages are sent again, before all waiting messages.
        case sendAgain
    }

    /// A closure that resumes the app's session over a new connection, for example by subscribing again.
    ///
    /// If the closure throws, the connection is closed and counts as failed.
    public typealias Resume = @Sendable (Resumption) async throws -> Interrupted

    /// The identifier with which any task can close the WebSocket:
    /// ``/SwitchyardClient/NetworkClient/cancel(_:)-(RequestID)``.
    public let id: RequestID
    private let runner: ReconnectingRunner

    init(_ runner: ReconnectingRunner) {
        self.runner = runner
        id = runner.id
        runner.start()
    }

    deinit {
        runner.close(.goingAway, reason: "")
    }

    /// The context of the request that opened the current connection, or `nil` while no connection is open.
    public var context: RequestContext? { runner.socket?.context }

    /// The reason why no further connection will be opened, or `nil` while the WebSocket is active and after
    /// ``close(_:reason:)``.
    public var failure: WebSocketFailure? { runner.failure }

    /// Sends a message, and returns when the whole message has been passed to the system.
    ///
    /// If no connection is open, the message waits for a connection. Cancelling the task removes the message if nothing
    /// of it has been sent.
    ///
    /// - Throws: ``WebSocketSendFailure``.
    public func send(_ message: WebSocket.Message) async throws(WebSocketSendFailure) {
        try await runner.send(message)
    }

    /// Waits for the next message of any connection.
    ///
    /// - Throws: The `TransportError` that ended the last connection if no further connection will be opened.
    ///   ``failure`` has the reason. The kind is ``/SwitchyardServices/WireFailure/closed`` after a closure, and
    ///   ``/SwitchyardServices/WireFailure/cancelled`` if the task is cancelled.
    public func receive() async throws(TransportError) -> WebSocket.Message {
        try await runner.receive()
    }

    /// The received messages in the order of arrival.
    ///
    /// The sequence ends without an error after ``close(_:reason:)`` and after a normal closure by the server.
    public var messages: Messages { Messages(socket: self) }

    /// Closes the connection without reconnecting.
    ///
    /// Messages that wait to be sent fail with ``WebSocketSendFailure/ended``.
    ///
    /// - Parameters:
    ///   - code: The close code.
    ///   - reason: The reason as text; empty unless given.
    public func close(_ code: WebSocket.CloseCode = .normal, reason: String = "") {
        runner.close(code, reason: reason)
    }
}

/// The reason why a ``ReconnectingWebSocket`` did not send a message, or may not have sent it.
public enum WebSocketSendFailure: Error, Sendable, Hashable {
    /// The queue of waiting messages is full, so nothing of the message was sent.
    case queueFull(messages: Int, bytes: Int)
    /// The task that called ``ReconnectingWebSocket/send(_:)`` was cancelled.
    ///
    /// Nothing of the message was sent.
    case cancelled
    /// The connection broke while the message was being sent.
    ///
    /// The server may have received the message, so it is not sent again.
    case mayHaveBeenDelivered
    /// No further connection will be opened, so nothing of the message was sent.
    case ended
}

extension WebSocketSendFailure: CustomStringConvertible {
    /// The reason for the failure.
    public var description: String {
        switch self {
        case .queueFull(let messages, let bytes):
            "the queue is full: \(messages) messages with \(bytes) bytes in total wait to be sent"
        case .cancelled: "the sending task was cancelled before any part of the message was sent"
        case .mayHaveBeenDelivered:
            "the connection broke while the message was being sent; the server may have received it"
        case .ended: "the WebSocket ended before any part of the message was sent"
        }
    }
}

extension ReconnectingWebSocket {
    /// The messages of a reconnecting WebSocket.
    public struct Messages: AsyncSequence, Sendable {
        /// A received message.
        public typealias Element = WebSocket.Message
        /// The failure that ends the sequence early.
        public typealias Failure = TransportError

        let socket: ReconnectingWebSocket

        /// Creates an iterator.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }

        /// An iterator over the messages.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: ReconnectingWebSocket

            /// Returns the next message, or `nil` after a normal closure.
            ///
            /// - Throws: The same `TransportError` as ``ReconnectingWebSocket/receive()``.
            public mutating func next() async throws(TransportError) -> WebSocket.Message? {
                try await socket.nextMessage()
            }

            /// Returns the next message, or `nil` after a normal closure; the `actor` parameter is ignored.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(TransportError) -> WebSocket.Message? {
                try await socket.nextMessage()
            }
        }
    }

    fileprivate func nextMessage() async throws(TransportError) -> WebSocket.Message? {
        do throws(TransportError) {
            return try await receive()
        } catch {
            guard error.kind == .closed, runner.endsNormally else { throw error }
            return nil
        }
    }
}

extension NetworkClient {
    /// Creates a WebSocket that opens a new connection whenever its current connection ends.
    ///
    /// - Parameters:
    ///   - configuration: The opening request of each connection, as in ``webSocket(_:options:id:)``.
    ///   - options: The options of the WebSocket.
    ///   - id: The identifier with which any task can close the WebSocket through `cancel(_:)`.
    ///   - resume: A closure that resumes the app's session over each new connection. Unless given, messages that the
    ///     server may have received fail with ``/SwitchyardStreams/WebSocketSendFailure/mayHaveBeenDelivered``.
    /// - Returns: The WebSocket, which starts to connect immediately.
    public func reconnectingWebSocket(
        _ configuration: APIConfiguration,
        options: ReconnectingWebSocket.Options = ReconnectingWebSocket.Options(),
        id: RequestID = RequestID(),
        resume: @escaping ReconnectingWebSocket.Resume = { _ in .fail }
    ) -> ReconnectingWebSocket {
        ReconnectingWebSocket(ReconnectingRunner(configuration, options, id: id, client: self, resume: resume))
    }
}
