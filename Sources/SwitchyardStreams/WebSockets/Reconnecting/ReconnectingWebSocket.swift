import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A WebSocket over as many connections as it takes, to the next server of the service when one dies.
///
///     let socket = client.reconnectingWebSocket(APIConfiguration(path: "live")) { resumption in
///         try await resumption.socket.send(.text("subscribe news"))
///         return .fail
///     }
///     for try await message in socket.messages { show(message) }
///
/// The first connection is made at once. When it ends, another one is made after a pause, with another server if the last
/// one failed. The hook runs with each new connection before anything else is sent over it.
///
/// Messages wait in a bounded queue until they can be sent, and each ends exactly once: ``send(_:)`` returns, or throws a
/// ``WebSocketSendFailure``. A message that the server may have is not sent again unless the hook says so. Letting go of
/// the last reference closes it.
public final class ReconnectingWebSocket: Sendable {
    /// How a reconnecting WebSocket behaves.
    public struct Options: Sendable {
        /// How each connection behaves.
        public var socket = WebSocket.Options()
        /// The pause before the next connection; 1 s unless set, shortened at random by up to a half.
        public var reconnectionTime = Duration.seconds(1)
        /// The longest pause after connections that failed one after the other, each of which doubles it; 60 s unless set.
        ///
        /// A pause ends when the network is back (``/SwitchyardClient/NetworkClient/networkChanged(isOnline:)``).
        public var longestWait = Duration.seconds(60)
        /// How many connections may fail one after the other; no limit unless set.
        ///
        /// One over which a message came begins the count anew.
        public var maximumFailures: Int?
        /// The messages that may wait to be sent at most; 256 unless set.
        public var queueLimit = 256
        /// The bytes of messages that may wait to be sent at most; 1 MiB unless set.
        public var queueByteLimit = 1 << 20
        /// Whether another connection is made after a closure; after all but those with ``WebSocket/CloseCode/normal`` or
        /// ``WebSocket/CloseCode/policyViolation`` by the server unless set.
        public var reconnects: @Sendable (WebSocket.Closure) -> Bool = { closure in
            !closure.isByServer || (closure.code != .normal && closure.code != .policyViolation)
        }

        /// Creates options; every one has a default.
        public init() {}
    }

    /// A connection that has just been made.
    public struct Resumption: Sendable {
        /// The connection; messages that the hook sends over it go first.
        public var socket: WebSocket
        /// The messages that were being sent when the connection before broke: the server may have them.
        public var interrupted: [WebSocket.Message]
        /// How many connections there were before; 0 for the first one.
        public var number: Int
    }

    /// What becomes of messages that the server may have.
    public enum Interrupted: Sendable, Hashable {
        /// They end with ``WebSocketSendFailure/mayHaveBeenDelivered``.
        case fail
        /// They are sent again, in front of all others.
        case sendAgain
    }

    /// Resumes the session over a new connection.
    ///
    /// A hook that throws ends the connection, which counts as one that failed.
    public typealias Resume = @Sendable (Resumption) async throws -> Interrupted

    /// The name with which it can be closed from elsewhere.
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

    /// The server of the connection that stands; `nil` while none does.
    public var context: RequestContext? { runner.socket?.context }

    /// Why there will be no other connection; `nil` while there may be one, and after ``close(_:reason:)``.
    public var failure: WebSocketFailure? { runner.failure }

    /// Sends a message, and returns when all of it has been handed to the system.
    ///
    /// It waits for a connection when none stands. A cancel takes back a message of which nothing has been sent.
    ///
    /// - Throws: ``WebSocketSendFailure``.
    public func send(_ message: WebSocket.Message) async throws(WebSocketSendFailure) {
        try await runner.send(message)
    }

    /// Waits for the next message, over whichever connection it comes.
    ///
    /// - Throws: `TransportError` that ended the last connection when there will be no other, which ``failure`` explains;
    ///   with ``/SwitchyardHTTP/TransportError/Kind/closed`` after a closure, with
    ///   ``/SwitchyardHTTP/TransportError/Kind/cancelled`` when the task is cancelled.
    public func receive() async throws(TransportError) -> WebSocket.Message {
        try await runner.inbox.next()
    }

    /// The messages as they come; they end without an error after ``close(_:reason:)`` and a normal closure by the server.
    public var messages: Messages { Messages(socket: self) }

    /// Closes the connection and makes no other; messages that wait end with ``WebSocketSendFailure/ended``.
    ///
    /// - Parameters:
    ///   - code: Why.
    ///   - reason: The reason in words; empty unless given.
    public func close(_ code: WebSocket.CloseCode = .normal, reason: String = "") {
        runner.close(code, reason: reason)
    }
}

/// Why a message was not sent by a ``ReconnectingWebSocket``.
public enum WebSocketSendFailure: Error, Sendable, Hashable {
    /// So much waits to be sent that no more is taken; nothing of the message was sent.
    case queueFull(messages: Int, bytes: Int)
    /// The task that sends was cancelled; nothing of the message was sent.
    case cancelled
    /// The connection broke while the message was being sent: the server may have it, and it is not sent again.
    case mayHaveBeenDelivered
    /// There is no connection any more; nothing of the message was sent.
    case ended
}

extension WebSocketSendFailure: CustomStringConvertible {
    /// What happened.
    public var description: String {
        switch self {
        case .queueFull(let messages, let bytes):
            "\(messages) messages of \(bytes) bytes wait to be sent, and no more are taken"
        case .cancelled: "the task that sends was cancelled before anything of the message was sent"
        case .mayHaveBeenDelivered: "the connection broke while the message was being sent; the server may have it"
        case .ended: "the WebSocket ended before anything of the message was sent"
        }
    }
}

extension ReconnectingWebSocket {
    /// The messages of a reconnecting WebSocket.
    public struct Messages: AsyncSequence, Sendable {
        /// One message.
        public typealias Element = WebSocket.Message
        /// The failure that ends the messages early.
        public typealias Failure = TransportError

        let socket: ReconnectingWebSocket

        /// Starts receiving.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }

        /// Receives message by message.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: ReconnectingWebSocket

            /// Returns the next message, or `nil` after a normal closure.
            ///
            /// - Throws: `TransportError` as ``ReconnectingWebSocket/receive()`` does.
            public mutating func next() async throws(TransportError) -> WebSocket.Message? {
                try await socket.nextMessage()
            }

            /// Returns the next message, or `nil` after a normal closure; the isolation of the caller plays no part.
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
    /// Makes a WebSocket that goes on with another connection when one ends.
    ///
    /// - Parameters:
    ///   - configuration: What to ask for with each connection, as ``webSocket(_:options:id:)`` does.
    ///   - options: How it behaves.
    ///   - id: The name with which it can be closed from elsewhere.
    ///   - resume: Resumes the session over each new connection; unless given, messages that the server may have end with
    ///     ``/SwitchyardStreams/WebSocketSendFailure/mayHaveBeenDelivered``.
    /// - Returns: The WebSocket, which begins to connect.
    public func reconnectingWebSocket(
        _ configuration: APIConfiguration,
        options: ReconnectingWebSocket.Options = ReconnectingWebSocket.Options(),
        id: RequestID = RequestID(),
        resume: @escaping ReconnectingWebSocket.Resume = { _ in .fail }
    ) -> ReconnectingWebSocket {
        ReconnectingWebSocket(ReconnectingRunner(configuration, options, id: id, client: self, resume: resume))
    }
}
