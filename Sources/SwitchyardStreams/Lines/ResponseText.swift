import Foundation
public import SwitchyardClient
import SwitchyardHTTP

/// The body of a ``/SwitchyardClient/StreamedResponse`` as chunks of text, each as soon as it arrives.
///
/// If a character is divided between two chunks of the body, the later chunk of text contains it. Bytes that are not
/// valid UTF-8 are replaced by U+FFFD. A leading byte order mark is removed.
public struct ResponseText: AsyncSequence, Sendable {
    /// A chunk of text, never empty.
    public typealias Element = String
    /// The failure that ends the sequence early.
    public typealias Failure = RequestFailure

    let body: LiveBody

    /// Creates an iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: body)
    }

    /// An iterator over the text of the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let body: LiveBody
        private var rest = Data()
        private var isAtStart = true

        init(body: LiveBody) {
            self.body = body
        }

        /// Returns the next chunk of text, or `nil` at the end.
        ///
        /// - Throws: ``/SwitchyardClient/RequestFailure`` if the body is interrupted or the transfer was cancelled.
        public mutating func next() async throws(RequestFailure) -> String? {
            try await next(isolation: nil)
        }

        /// Returns the next chunk of text, or `nil` at the end; the `actor` parameter is ignored.
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

extension StreamedResponse.Bytes {
    /// The body as chunks of text.
    public var text: ResponseText { ResponseText(body: body) }
}
