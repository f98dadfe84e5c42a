import Foundation
public import SwitchyardClient
import SwitchyardHTTP

/// The lines of a ``/SwitchyardClient/StreamedResponse``, each as soon as it is whole.
///
/// A line ends with LF or CRLF, which do not belong to it; what stands behind the last one is a line too, if it is not
/// empty. A CR by itself ends no line, since JSON Lines and the programs of today write none. Characters may be cut
/// anywhere between pieces; bytes that are not UTF-8 are replaced by U+FFFD. A byte order mark in front is left out.
public struct ResponseLines: AsyncSequence, Sendable {
    /// One line, without its end.
    public typealias Element = String
    /// The failure that ends a body early.
    public typealias Failure = RequestFailure

    let body: LiveBody
    let limit: Int

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: LineReader(body, .lineFeed, limit: limit))
    }

    /// Reads the body line by line.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var reader: LineReader

        /// Returns the next line, or `nil` at the end.
        ///
        /// - Throws: `RequestFailure` when the body breaks off, the transfer was cancelled or a line is too long.
        public mutating func next() async throws(RequestFailure) -> String? {
            try await next(isolation: nil)
        }

        /// Returns the next line, or `nil` at the end; the isolation of the caller plays no part.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> String? {
            try await reader.next().map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension ResponseBytes {
    /// The body as lines of at most 1 MiB.
    public var lines: ResponseLines { lines(limit: 1 << 20) }

    /// The body as lines.
    ///
    /// - Parameter limit: The longest line in bytes; a longer one ends the transfer with
    ///   ``/SwitchyardHTTP/TransportError/Kind/bodyTooLarge``.
    /// - Returns: The lines.
    public func lines(limit: Int) -> ResponseLines {
        ResponseLines(body: body, limit: limit)
    }
}

/// Reads the lines of a body, with the last one even if nothing ends it.
struct LineReader {
    private let body: LiveBody
    private var splitter: LineSplitter
    private var isAtEnd = false

    init(_ body: LiveBody, _ rule: LineSplitter.Rule, limit: Int) {
        self.body = body
        splitter = LineSplitter(rule, limit: limit)
    }

    mutating func next() async throws(RequestFailure) -> Data? {
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
