public import Foundation
public import SwitchyardHTTP

/// A WebSocket connection (RFC 6455): Apple systems only, where URLSession carries it.
///
/// On other systems opening one throws ``/SwitchyardHTTP/TransportError/Kind/unsupported``.
///
/// It stands beside the clients and knows nothing of them: neither the trust settings and pins of a transport nor the
/// rule for http, credentials or cookies of a client hold for it. Whom it trusts is said in ``Options/tls``. Nothing is
/// kept, no cookie, credential or answer, and an opening that the server redirects fails.
///
/// On watchOS the system lets an app have WebSockets only while it streams audio or has a call, and for some other uses
/// (Apple, TN3135); any other app finds that the connection does not come about.
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

    /// How a connection behaves.
    public struct Options: Sendable {
        /// The time between two pings; none are sent when `nil`, the default.
        ///
        /// One that is not answered by the time of the next ends the connection, so that less than a second counts as
        /// one second.
        public var pingInterval: Duration?
        /// The largest message in bytes that is accepted; 1 MiB unless set.
        ///
        /// A larger one ends the connection.
        public var maximumMessageSize = 1 << 20
        /// Whom the connection trusts; the system's trust unless set.
        ///
        /// What cannot be done is refused, never ignored; with pins so is a URL of the scheme http.
        public var tls = TLSConfiguration()

        /// Creates options; every one has a default.
        public init() {}

        /// The time between two pings that is kept to.
        var pingPause: Duration? { pingInterval.map { max($0, .seconds(1)) } }
    }

    #if canImport(Darwin)
        private let connection: WebSocketConnection
    #endif

    /// Opens a connection; messages sent before it stands wait for it.
    ///
    /// - Parameters:
    ///   - request: The request that opens it, with a URL of the scheme http or https.
    ///   - options: How it behaves.
    /// - Throws: `TransportError`; with `TransportError.Kind.unsupported` on systems without, and for trust settings
    ///   that URLSession does not have.
    public init(_ request: HTTPRequest, options: Options = Options()) throws(TransportError) {
        #if canImport(Darwin)
            connection = try WebSocketConnection(request, options)
        #else
            throw Self.unsupported
        #endif
    }

    /// Sends a message, and returns when it has been handed to the system.
    ///
    /// - Throws: ``/SwitchyardHTTP/TransportError`` when the connection is broken or closed; with
    ///   ``/SwitchyardHTTP/TransportError/Kind/certificateRejected`` when the server is not trusted.
    public func send(_ message: Message) async throws(TransportError) {
        #if canImport(Darwin)
            try await connection.send(message)
        #else
            throw Self.unsupported
        #endif
    }

    /// Waits for the next message.
    ///
    /// A cancel ends the waiting and not the connection; the message that comes then is the next call's.
    ///
    /// - Throws: `TransportError` when the connection is broken or closed, or the message too large; with
    ///   ``/SwitchyardHTTP/TransportError/Kind/certificateRejected`` when the server is not trusted, with
    ///   ``/SwitchyardHTTP/TransportError/Kind/cancelled`` when the task is cancelled.
    public func receive() async throws(TransportError) -> Message {
        #if canImport(Darwin)
            return try await connection.receive()
        #else
            throw Self.unsupported
        #endif
    }

    /// Closes the connection in an orderly way; harmless when it is closed.
    public func close() {
        #if canImport(Darwin)
            connection.close()
        #endif
    }

    #if !canImport(Darwin)
        private static let unsupported = TransportError(
            .unsupported,
            message: "WebSockets need an Apple system",
            mayHaveBeenSent: false
        )
    #endif
}
