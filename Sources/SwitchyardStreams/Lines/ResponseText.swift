import Foundation
public import SwitchyardClient
import SwitchyardHTTP

/// The body of a ``/SwitchyardClient/StreamedResponse`` as pieces of text, each as soon as it is there.
///
/// A character that is cut between two pieces of the body comes whole, with the later one. Bytes that are not UTF-8 are
/// replaced by U+FFFD. A byte order mark in front is left out.
public struct ResponseText: AsyncSequence, Sendable {
    /// One piece of text, never empty.
    public typealias Element = String
    /// The failure that ends a body early.
    public typealias Failure = RequestFailure

    let body: LiveBody

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: body)
    }

    /// Reads the body piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let body: LiveBody
        private var rest = Data()
        private var isAtStart = true

        init(body: LiveBody) {
            self.body = body
        }

        /// Returns the next piece, or `nil` at the end.
        ///
        /// - Throws: ``/SwitchyardClient/RequestFailure`` when the body breaks off or the transfer was cancelled.
        public mutating func next() async throws(RequestFailure) -> String? {
            try await next(isolation: nil)
        }

        /// Returns the next piece, or `nil` at the end; the isolation of the caller plays no part.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> String? {
            while let piece = try await body.next() {
                var bytes = rest + piece
                rest = Data(bytes.suffix(bytes.incompleteCharacter))
                bytes.removeLast(rest.count)
                if isAtStart, !bytes.isEmpty {
                    isAtStart = false
                    if bytes.starts(with: Data.byteOrderMark) { bytes.removeFirst(Data.byteOrderMark.count) }
                }
                if !bytes.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            }
            defer { rest = Data() }
            return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
        }
    }
}

extension ResponseBytes {
    /// The body as pieces of text.
    public var text: ResponseText { ResponseText(body: body) }
}
