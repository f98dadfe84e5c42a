package import Foundation

/// A connection that a response has opened, for example a WebSocket.
///
/// Each transport has its own conforming type.
package protocol OpenedConnection: Sendable {}

/// An opened connection whose bytes are received as the response body.
package protocol ByteConnection: OpenedConnection {
    /// Sends bytes, and returns when all of them have been passed to the system.
    ///
    /// - Parameter bytes: The bytes to send.
    /// - Throws: ``TransportError`` if the connection has ended. If another call is sending, the error's kind is
    ///   ``/SwitchyardServices/WireFailure/invalidRequest``.
    func send(_ bytes: Data) async throws(TransportError)
}
