public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardTransport

/// A WebSocket connection (RFC 6455), with its own framing over libcurl on Linux, and over `URLSession` on Apple
/// systems.
///
///     let socket = try await client.webSocket(APIConfiguration(path: "live"))
///     try await socket.send(.text("hello"))
///     for try await message in socket.messages { show(message) }
///
/// ``SwitchyardClient/NetworkClient/webSocket(_:options:id:)`` opens a connection under the rules of a client: its
/// servers, header fields, credentials and cookies. ``init(_:options:)`` opens a connection without a client: the trust
/// settings and pins of a transport do not apply, nor do a client's rule for http, its credentials or its cookies.
/// ``Options/tls`` sets the trust settings, and a redirect of the opening request fails. Nothing of a connection is
/// stored.
///
/// Releasing the last reference closes the connection. On watchOS, the system allows WebSockets only while an app
/// streams audio or has a call, and for some other uses (Apple, TN3135); in any other app, the connection cannot be
/// opened.
///
/// Apple's Network framework has a type of the same name from iOS 26 and macOS 26 on. A file that imports both modules
/// must write `SwitchyardStreams.WebSocket`.
public final class WebSocket: Sendable {
    /// A message.
    public enum Message: Sendable, Hashable {
        /// A text message.
        case text(String)
        /// A binary message.
        case data(Data)
    }

    /// The context of the request that opened the connection; `nil` without a client.
    public let context: RequestContext?
    private let door: WebSocketDoor
    /// The reason why nothing is delivered after the user who opened the WebSocket has left; `nil` without a client.
    private let refusal: (@Sendable () -> TransportError?)?

    /// Opens a connection without a client; messages that are sent before it is open wait until it is.
    ///
    /// - Parameters:
    ///   - request: The opening request, a GET with a URL of the scheme http or https.
    ///   - options: The options of the connection.
    /// - Throws: `TransportError` if the system has no transport, or does not support the trust settings.
    public init(_ request: HTTPRequest, options: Options = Options()) throws(TransportError) {
        (context, refusal) = (nil, nil)
        door = WebSocketDoor()
        try door.open(request, options)
    }

    /// Wraps an open connection.
    init(
        _ engine: any WebSocketEngine,
        subprotocol: String?,
        context: RequestContext,
        refusal: (@Sendable () -> TransportError?)? = nil
    ) {
        self.context = context
        self.refusal = refusal
        door = WebSocketDoor(engine, subprotocol: subprotocol)
    }

    deinit {
        door.abandon()
    }

    /// The subprotocol that the server has chosen; `nil` if it chose none, and until the connection is open.
    public var subprotocol: String? { door.subprotocol }

    /// The end of the connection; `nil` if the connection has not ended or was never open.
    public var closure: Closure? { door.closure }

    /// Sends a message, and returns when all of it has been passed to the system.
    ///
    /// A return does not mean that the server has received the message. Cancelling before the first byte is sent
    /// removes the message. Cancelling later has no effect: the whole message is sent.
    ///
    /// - Throws: ``/SwitchyardHTTP/TransportError`` if the connection is broken or closed;
    ///   ``/SwitchyardHTTP/TransportError/mayHaveBeenSent`` indicates whether the server may have received the message.
    ///   The kind is ``/SwitchyardHTTP/TransportError/Kind/certificateRejected`` if the server is not trusted, and
    ///   ``/SwitchyardHTTP/TransportError/Kind/cancelled`` if the task is cancelled.
    public func send(_ message: Message) async throws(TransportError) {
        if var refusal = refusal?() {
            refusal.mayHaveBeenSent = false
            throw refusal
        }
        let engine = try await door.engine()
        try await engine.send(message)
    }

    /// Waits for the next message.
    ///
    /// Cancelling ends the wait but not the connection; the next call returns the message. While no call waits, only a
    /// bounded number of bytes is received from the server.
    ///
    /// - Throws: `TransportError` if the connection is broken or closed, or the message is too large. The kind is
    ///   ``/SwitchyardHTTP/TransportError/Kind/closed`` after a Close frame, which ``closure`` describes,
    ///   ``/SwitchyardHTTP/TransportError/Kind/certificateRejected`` if the server is not trusted, and
    ///   ``/SwitchyardHTTP/TransportError/Kind/cancelled`` if the task is cancelled.
    public func receive() async throws(TransportError) -> Message {
        if let refusal = refusal?() { throw refusal }
        let engine = try await door.engine()
        let message = try await engine.receive()
        if let refusal = refusal?() { throw refusal }
        return message
    }

    /// The messages in the order of arrival, up to the end of the connection.
    public var messages: Messages { Messages(socket: self) }

    /// Closes the connection with a Close frame, after the messages that wait to be sent; does nothing if it is closed.
    ///
    /// - Parameters:
    ///   - code: The close code; a code that must not be sent (``CloseCode/isSendable``) counts as
    ///     ``CloseCode/normal``.
    ///   - reason: The reason as text, of which at most 123 bytes of UTF-8 are sent; empty unless given.
    public func close(_ code: CloseCode = .normal, reason: String = "") {
        door.close(code, reason: reason)
    }
}

extension WebSocket {
    /// The messages of a connection.
    ///
    /// They end without an error after a normal closure (``Closure/isNormal``).
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = Message
        /// The failure that ends the messages early.
        public typealias Failure = TransportError

        let socket: WebSocket

        /// Creates an iterator.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }

        /// An iterator over the messages.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: WebSocket

            /// Returns the next message, or `nil` after a normal closure.
            ///
            /// - Throws: The same `TransportError` as ``WebSocket/receive()``.
            public mutating func next() async throws(TransportError) -> Message? {
                try await socket.nextMessage()
            }

            /// Returns the next message, or `nil` after a normal closure; the isolation of the caller is ignored.
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
