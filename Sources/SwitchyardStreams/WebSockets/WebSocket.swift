public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardTransport

/// A WebSocket connection (RFC 6455): frames of its own over libcurl on Linux, URLSession on Apple systems.
///
///     let socket = try await client.webSocket(APIConfiguration(path: "live"))
///     try await socket.send(.text("hello"))
///     for try await message in socket.messages { show(message) }
///
/// ``SwitchyardClient/NetworkClient/webSocket(_:options:id:)`` opens one under the rules of a client: its servers, header
/// fields, credentials and cookies. ``init(_:options:)`` opens one that knows no client: neither the trust settings and
/// pins of a transport nor the rule for http, credentials or cookies of a client hold for it, whom it trusts is said in
/// ``Options/tls``, and an opening that the server redirects fails. Nothing of a connection is kept.
///
/// Letting go of the last reference closes the connection. On watchOS the system lets an app have WebSockets only while it
/// streams audio or has a call, and for some other uses (Apple, TN3135); any other app finds that the connection does not
/// come about.
///
/// Apple's Network has a type of the same name from iOS 26 and macOS 26 on; a file that imports both writes
/// `SwitchyardStreams.WebSocket`.
public final class WebSocket: Sendable {
    /// A message.
    public enum Message: Sendable, Hashable {
        /// Text.
        case text(String)
        /// Bytes.
        case data(Data)
    }

    /// The request that opened the connection, and who answered it; `nil` without a client.
    public let context: RequestContext?
    private let door: WebSocketDoor

    /// Opens a connection that knows no client; messages sent before it stands wait for it.
    ///
    /// - Parameters:
    ///   - request: The request that opens it, a GET with a URL of the scheme http or https.
    ///   - options: How it behaves.
    /// - Throws: `TransportError` when the system has no transport, and for trust settings that it does not have.
    public init(_ request: HTTPRequest, options: Options = Options()) throws(TransportError) {
        context = nil
        door = WebSocketDoor()
        try door.open(request, options)
    }

    /// Wraps a connection that stands.
    init(_ engine: any WebSocketEngine, subprotocol: String?, context: RequestContext) {
        self.context = context
        door = WebSocketDoor(engine, subprotocol: subprotocol)
    }

    deinit {
        door.abandon()
    }

    /// The subprotocol that the server has chosen; `nil` for none, and until the connection stands.
    public var subprotocol: String? { door.subprotocol }

    /// How the connection ended; `nil` while it has not, and when it never stood.
    public var closure: Closure? { door.closure }

    /// Sends a message, and returns when all of it has been handed to the system.
    ///
    /// That does not say that the server has it. A cancel before the first byte takes the message back; after it, the
    /// message goes out in full.
    ///
    /// - Throws: ``/SwitchyardHTTP/TransportError`` when the connection is broken or closed;
    ///   ``/SwitchyardHTTP/TransportError/mayHaveBeenSent`` says whether the server may have the message. With
    ///   ``/SwitchyardHTTP/TransportError/Kind/certificateRejected`` when the server is not trusted, with
    ///   ``/SwitchyardHTTP/TransportError/Kind/cancelled`` when the task is cancelled.
    public func send(_ message: Message) async throws(TransportError) {
        let engine = try await door.engine()
        try await engine.send(message)
    }

    /// Waits for the next message.
    ///
    /// A cancel ends the waiting and not the connection; the message that comes then is the next call's. While nobody
    /// receives, only a bounded number of bytes is taken from the server.
    ///
    /// - Throws: `TransportError` when the connection is broken or closed, or the message too large; with
    ///   ``/SwitchyardHTTP/TransportError/Kind/closed`` after a Close frame, which ``closure`` shows, with
    ///   ``/SwitchyardHTTP/TransportError/Kind/certificateRejected`` when the server is not trusted, with
    ///   ``/SwitchyardHTTP/TransportError/Kind/cancelled`` when the task is cancelled.
    public func receive() async throws(TransportError) -> Message {
        let engine = try await door.engine()
        return try await engine.receive()
    }

    /// The messages as they come, up to the end of the connection.
    public var messages: Messages { Messages(socket: self) }

    /// Closes the connection in an orderly way, behind the messages that wait to be sent; harmless when it is closed.
    ///
    /// - Parameters:
    ///   - code: Why; a code that must not be sent (``CloseCode/isSendable``) counts as ``CloseCode/normal``.
    ///   - reason: The reason in words, of which 123 bytes of UTF-8 are sent at most; empty unless given.
    public func close(_ code: CloseCode = .normal, reason: String = "") {
        door.close(code, reason: reason)
    }
}

extension WebSocket {
    /// The messages of a connection.
    ///
    /// They end without an error after a normal closure (``Closure/isNormal``).
    public struct Messages: AsyncSequence, Sendable {
        /// One message.
        public typealias Element = Message
        /// The failure that ends the messages early.
        public typealias Failure = TransportError

        let socket: WebSocket

        /// Starts receiving.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }

        /// Receives message by message.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: WebSocket

            /// Returns the next message, or `nil` after a normal closure.
            ///
            /// - Throws: `TransportError` as ``WebSocket/receive()`` does.
            public mutating func next() async throws(TransportError) -> Message? {
                try await socket.nextMessage()
            }

            /// Returns the next message, or `nil` after a normal closure; the isolation of the caller plays no part.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransportError) -> Message? {
                try await socket.nextMessage()
            }
        }
    }

    fileprivate func nextMessage() async throws(TransportError) -> Message? {
        do throws(TransportError) {
            return try await receive()
        } catch {
            guard error.kind == .closed, closure?.isNormal == true else { throw error }
            return nil
        }
    }
}
