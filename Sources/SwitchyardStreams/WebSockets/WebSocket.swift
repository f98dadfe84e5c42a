public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardTransport

/// A WebSocket connection (RFC 6455).
///
/// The connection uses Switchyard's own framing over libcurl on Linux, and `URLSession` on Apple systems.
///
///     let socket = try await client.webSocket(APIConfiguration(path: "live"))
///     try await socket.send(.text("hello"))
///     for try await message in socket.messages { show(message) }
///
/// ``SwitchyardClient/NetworkClient/webSocket(_:options:id:)`` opens a connection under the rules of a client: its
/// servers, header fields, credentials and cookies. ``init(_:options:)`` opens a connection without a client. Such a
/// connection does not use the trust settings and pins of a transport, and it does not use the rule for plain HTTP
/// (`NetworkClient.Options.insecureHTTP`), the credentials or the cookies of a client. ``Options/tls`` sets its trust
/// settings, and a redirect of the opening request is an error. Nothing of the connection is stored.
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

        /// The size of the payload in bytes.
        var size: Int {
            switch self {
            case .text(let text): text.utf8.count
            case .data(let data): data.count
            }
        }
    }

    /// The context of the request that opened the connection, or `nil` if the connection was opened without a client.
    public let context: RequestContext?
    private let door: WebSocketDoor
    /// The reporter of the messages, or `nil` if no observer receives them.
    private let reporter: SocketReporter?
    /// A closure that returns the error for every call after the user who opened the WebSocket has logged out.
    ///
    /// The closure is `nil` if the connection was opened without a client.
    private let refusal: (@Sendable () -> TransportError?)?

    /// Opens a connection without a client.
    ///
    /// Messages that are sent before the connection is open wait until it is open.
    ///
    /// - Parameters:
    ///   - request: The opening request: a GET whose URL has the scheme http or https.
    ///   - options: The options of the connection.
    /// - Throws: `TransportError` if the system has no transport, or does not support the trust settings.
    public init(_ request: HTTPRequest, options: Options = Options()) throws(TransportError) {
        (context, refusal, reporter) = (nil, nil, nil)
        door = WebSocketDoor()
        try door.open(request, options)
    }

    /// Wraps an open connection.
    init(
        _ engine: any WebSocketEngine,
        subprotocol: String?,
        context: RequestContext,
        reporter: SocketReporter? = nil,
        refusal: (@Sendable () -> TransportError?)? = nil
    ) {
        self.context = context
        self.reporter = reporter
        self.refusal = refusal
        door = WebSocketDoor(engine, subprotocol: subprotocol)
    }

    deinit {
        door.abandon()
    }

    /// The subprotocol that the server has chosen, or `nil` if the server chose no subprotocol, or if the connection is
    /// not open yet.
    public var subprotocol: String? { door.subprotocol }

    /// A description of how the connection ended, or `nil` if the connection has not ended or was never open.
    public var closure: Closure? { door.closure }

    /// Sends a message, and returns when the whole message has been passed to the system.
    ///
    /// When this method returns, the server may not have received the message yet. Cancelling the task before the first
    /// byte is sent removes the message. Cancelling later has no effect: the whole message is sent.
    ///
    /// - Throws: ``/SwitchyardHTTP/TransportError`` if the connection is broken or closed;
    ///   ``/SwitchyardHTTP/TransportError/mayHaveBeenSent`` indicates whether the server may have received the message.
    ///   The kind is ``/SwitchyardServices/WireFailure/certificateRejected`` if the server is not trusted, and
    ///   ``/SwitchyardServices/WireFailure/cancelled`` if the task is cancelled.
    public func send(_ message: Message) async throws(TransportError) {
        if var refusal = refusal?() {
            refusal.mayHaveBeenSent = false
            throw refusal
        }
        let engine = try await door.engine()
        let start = reporter?.now
        try await engine.send(message)
        if let start { reporter?.report(message, .sent, at: start) }
    }

    /// Waits for the next message.
    ///
    /// Cancelling the task ends the wait, but not the connection. The next call then returns the message. While no call
    /// waits, only a bounded number of bytes is received from the server.
    ///
    /// - Throws: `TransportError` if the connection is broken or closed, or the message is too large. The kind is
    ///   ``/SwitchyardServices/WireFailure/closed`` after a Close frame (see ``closure``),
    ///   ``/SwitchyardServices/WireFailure/certificateRejected`` if the server is not trusted, and
    ///   ``/SwitchyardServices/WireFailure/cancelled`` if the task is cancelled.
    public func receive() async throws(TransportError) -> Message {
        if let refusal = refusal?() { throw refusal }
        let engine = try await door.engine()
        let message: Message
        do throws(TransportError) {
            message = try await engine.receive()
        } catch {
            reporter?.reportEnd(error, engine.closure)
            throw error
        }
        if let refusal = refusal?() { throw refusal }
        if let reporter { reporter.report(message, .received, at: reporter.now) }
        return message
    }

    /// The received messages in the order of arrival, until the connection ends.
    public var messages: Messages { Messages(socket: self) }

    /// Closes the connection with a Close frame, after the messages that wait to be sent.
    ///
    /// Does nothing if the connection is already closed.
    ///
    /// - Parameters:
    ///   - code: The close code; a code that must not be sent (``CloseCode/isSendable``) counts as
    ///     ``CloseCode/normal``.
    ///   - reason: The reason as text; empty unless given. At most 123 bytes of UTF-8 are sent.
    public func close(_ code: CloseCode = .normal, reason: String = "") {
        reporter?.reportClose(code.isSendable ? code : .normal, reason, .sent)
        door.close(code, reason: reason)
    }
}

extension WebSocket {
    /// The received messages of a connection.
    ///
    /// The sequence ends without an error after a normal closure (``Closure/isNormal``).
    public struct Messages: AsyncSequence, Sendable {
        /// A received message.
        public typealias Element = Message
        /// The failure that ends the sequence early.
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

            /// Returns the next message, or `nil` after a normal closure; the `actor` parameter is ignored.
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
