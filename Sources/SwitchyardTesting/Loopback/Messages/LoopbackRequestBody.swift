public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// The body of a request, read as it arrives.
///
/// While the handler does not read, the server takes at most a bounded amount from the connection, so that the client
/// has to wait. A client that expects "100 Continue" gets it when the handler starts to read. What the handler leaves
/// unread is thrown away.
public struct LoopbackRequestBody: AsyncSequence, Sendable {
    /// One piece of the body, never empty.
    public typealias Element = Data
    /// The failure that ends a body early.
    public typealias Failure = LoopbackError

    let channel: RequestBodyChannel

    /// Starts reading, or goes on where an earlier iteration has stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(channel: channel)
    }

    /// Reads the rest of the body into memory.
    ///
    /// - Parameter limit: The largest number of bytes to accept; 64 MiB unless given.
    /// - Returns: The bytes that have not been read before.
    /// - Throws: ``LoopbackError/bodyTooLarge(limit:)``, or what broke the body off.
    public func collect(upTo limit: Int = 67_108_864) async throws(LoopbackError) -> Data {
        var bytes = Data()
        while let piece = try await channel.next() {
            guard bytes.count + piece.count <= limit else { throw .bodyTooLarge(limit: limit) }
            bytes.append(piece)
        }
        return bytes
    }

    /// The trailer fields; empty until the body has been read to its end.
    public var trailers: HTTPHeaders { channel.trailers }

    /// Reads the body piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let channel: RequestBodyChannel

        /// Returns the next piece, or `nil` at the end.
        ///
        /// - Throws: ``LoopbackError`` when the connection was closed, the body is malformed or the task cancelled.
        public mutating func next() async throws(LoopbackError) -> Data? {
            try await channel.next()
        }

        /// Returns the next piece, or `nil` at the end; the isolation of the caller plays no part.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LoopbackError) -> Data? {
            try await channel.next()
        }
    }
}
