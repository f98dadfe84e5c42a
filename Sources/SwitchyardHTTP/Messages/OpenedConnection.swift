package import Foundation

/// A connection that a response has handed over, in the form in which its transport has it.
package protocol OpenedConnection: Sendable {}

/// A connection whose bytes are received as the response's body.
package protocol ByteConnection: OpenedConnection {
    /// Sends bytes, and returns when all of them have been handed to the system.
    ///
    /// - Parameter bytes: What to send.
    /// - Throws: ``TransportError`` when the connection has ended, and with ``TransportError/Kind/invalidRequest`` while
    ///   another call is sending.
    func send(_ bytes: Data) async throws(TransportError)
}
