import Foundation
public import SwitchyardClient
import SwitchyardHTTP

/// The lines of a ``/SwitchyardClient/StreamedResponse``, each as soon as it is complete.
///
/// A line ends with LF or CRLF, and this line end is not part of the line. Text after the last line end is a line too,
/// unless it is empty. A CR alone does not end a line, because JSON Lines and current programs do not use it. A
/// character may be divided between two chunks of the body. Bytes that are not valid UTF-8 are replaced by U+FFFD. A
/// leading byte order mark is removed.
public struct ResponseLines: AsyncSequence, Sendable {
    /// A line, without its end.
    public typealias Element = String
    /// The failure that ends the sequence early.
    public typealias Failure = RequestFailure

    let body: LiveBody
    let limit: Int

    /// Creates an iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: LineReader(body, .lineFeed, limit: limit))
    }

    /// An iterator over the lines of the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var reader: LineReader

        /// Returns the next line, or `nil` at the end.
        ///
        /// - Throws: `RequestFailure` if the body is interrupted, the transfer was cancelled, or a line is too long.
        public mutating func next() async throws(RequestFailure) -> String? {
            try await next(isolation: nil)
        }

        /// Returns the next line, or `nil` at the end; the `actor` parameter is ignored.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> String? {
            try await reader.next().map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension StreamedResponse.Bytes {
    /// The body as lines of at most 1 MiB.
    public var lines: ResponseLines { lines(limit: 1 << 20) }

    /// Returns the body as lines.
    ///
    /// - Parameter limit: The maximum length of a line in bytes; a longer line ends the transfer with
    ///   ``/SwitchyardServices/WireFailure/bodyTooLarge``.
    /// - Returns: The lines.
    public func lines(limit: Int) -> ResponseLines {
        ResponseLines(body: body, limit: limit)
    }
}

/// A reader of the lines of a body, including a last line without a line end.
struct LineReader {
    private let body: LiveBody
    private var splitter: LineSplitter
    private var isAtEnd = false

    init(_ body: LiveBody, _ rule: LineSplitter.Rule, limit: Int) {
        self.body = body
        splitter = LineSplitter(rule, limit: limit)
    }

    mutating func next() async throws(RequestFailure) -> Data? {
        try body.checkOwner()
        while true {
            do throws(TransportError) {
                if let line = try splitter.next() { return line }
            } catch {
                throw body.refuse(error)
            }
            guard !isAtEnd else { return nil }
            guard let piece = try await body.next() else {
                isAtEnd = true
                return splitter.finish()
            }
            splitter.append(piece)
        }
    }
}
