public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// The body of a request, whose bytes the handler reads as they arrive.
///
/// If the handler does not read, the server buffers a bounded number of bytes and then stops reading from the
/// connection, so the client has to wait. If a client waits for "100 Continue", the server sends it when the handler
/// starts to read. Bytes that the handler does not read are discarded.
public struct LoopbackRequestBody: AsyncSequence, Sendable {
    /// A chunk of the body, never empty.
    public typealias Element = Data
    /// The error that ends the sequence early.
    public typealias Failure = LoopbackError

    let channel: RequestBodyChannel

    /// Creates an iterator, which starts at the first byte or continues where an earlier iterator stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(channel: channel)
    }

    /// Reads the rest of the body into memory.
    ///
    /// - Parameter limit: The maximum number of bytes. The default is 64 MiB.
    /// - Returns: The bytes that have not been read before.
    /// - Throws: ``LoopbackError/bodyTooLarge(limit:)``, or the error that ended the body early.
    public func collect(upTo limit: Int = 67_108_864) async throws(LoopbackError) -> Data {
        var bytes = Data()
        while let piece = try await channel.next() {
            guard bytes.count + piece.count <= limit else { throw .bodyTooLarge(limit: limit) }
            bytes.append(piece)
        }
        return bytes
    }

    /// The trailer fields, which are empty until the body has been read completely.
    public var trailers: HTTPHeaders { channel.trailers }

    /// An iterator over the chunks of the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let channel: RequestBodyChannel

        /// Returns the next chunk, or `nil` at the end.
        ///
        /// - Throws: ``LoopbackError`` if the connection was closed, the body is malformed or the task was cancelled.
        public mutating func next() async throws(LoopbackError) -> Data? {
            try await channel.next()
        }

        /// Returns the next chunk, or `nil` at the end; the `actor` parameter is ignored.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LoopbackError) -> Data? {
            try await channel.next()
        }
    }
}
