import Foundation
import SwitchyardHTTP

/// A connection of a ``WebSocket`` that stands: frames written here, or the system's.
protocol WebSocketEngine: Sendable {
    /// How the connection ended; `nil` while it has not.
    var closure: WebSocket.Closure? { get }

    /// Sends a message, and returns when all of it has been handed to the system.
    func send(_ message: WebSocket.Message) async throws(TransportError)

    /// Waits for the next message.
    func receive() async throws(TransportError) -> WebSocket.Message

    /// Begins to close the connection; harmless when it is closed.
    func close(_ code: WebSocket.CloseCode, reason: String)

    /// Closes the connection, of which nobody reads what still comes.
    func abandon()
}

/// What a framed connection stands on.
protocol WebSocketLink: Sendable {
    /// Waits for the next bytes; `nil` at the end.
    func receive() async throws(TransportError) -> Data?

    /// Sends bytes, and returns when all of them have been handed to the system.
    func send(_ bytes: Data) async throws(TransportError)

    /// Ends the connection at once.
    ///
    /// - Parameter failure: What the server is charged with; `nil` for an end without a fault.
    func end(_ failure: TransportError?)
}
