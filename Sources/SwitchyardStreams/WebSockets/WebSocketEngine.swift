import Foundation
import SwitchyardHTTP

/// An open connection of a ``WebSocket``, either with Switchyard's own framing (``FramedWebSocket``) or with the
/// system's (``SystemWebSocket``).
protocol WebSocketEngine: Sendable {
    /// A description of how the connection ended, or `nil` if it has not ended.
    var closure: WebSocket.Closure? { get }

    /// Sends a message, and returns when the whole message has been passed to the system.
    func send(_ message: WebSocket.Message) async throws(TransportError)

    /// Waits for the next message.
    func receive() async throws(TransportError) -> WebSocket.Message

    /// Starts to close the connection, or does nothing if the connection is already closed.
    func close(_ code: WebSocket.CloseCode, reason: String)

    /// Closes the connection.
    ///
    /// Further messages from the server are discarded.
    func abandon()
}

/// The underlying byte connection of a framed WebSocket.
protocol WebSocketLink: Sendable {
    /// Waits for the next bytes, or returns `nil` at the end of the connection.
    func receive() async throws(TransportError) -> Data?

    /// Sends bytes, and returns when all bytes have been passed to the system.
    func send(_ bytes: Data) async throws(TransportError)

    /// Ends the connection immediately.
    ///
    /// - Parameter failure: The failure that counts against the server, or `nil` if the server is not at fault.
    func end(_ failure: TransportError?)
}
