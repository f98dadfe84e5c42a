public import Foundation

/// The body of a request.
public enum HTTPBody: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case data(Data)
    /// A file, read while it is sent.
    ///
    /// The length is taken when the exchange starts; a file that shrinks meanwhile fails the exchange, and with
    /// `CurlTransport` one that changes in any way.
    case file(URL)
    /// Bytes made while they are sent.
    indirect case stream(Stream)

    /// A body that is made while it is sent.
    public struct Stream: Sendable {
        /// The number of bytes the stream will give; `nil` when unknown (then it is sent chunked).
        public var length: Int64? {
            didSet { enclosure = nil }
        }
        /// Makes a reader that starts at the first byte.
        ///
        /// Called once for every attempt.
        public var makeReader: @Sendable () throws -> any HTTPBodyReader {
            didSet { enclosure = nil }
        }
        /// What the readers read, and do nothing else, when that is a file with bytes around it.
        ///
        /// A transport that makes sure itself that the file stays as it is may read it without them.
        package var enclosure: FileEnclosure?

        /// Creates a streamed body.
        public init(length: Int64?, makeReader: @escaping @Sendable () throws -> any HTTPBodyReader) {
            self.length = length
            self.makeReader = makeReader
        }
    }
}

/// Gives the bytes of a streamed body, front to back.
///
/// Used by one exchange only, one call at a time.
public protocol HTTPBodyReader: Sendable {
    /// Returns the next bytes, at most `maximumLength` of them, or `nil` at the end.
    ///
    /// May take its time: the transport pauses the exchange, and no thread waits.
    func read(maximumLength: Int) async throws -> Data?
}

/// A body that is one file, and the bytes in front of it and behind it, as in a form with a file.
package struct FileEnclosure: Sendable {
    package var file: URL
    /// The bytes that the file had when it was looked at.
    package var length: Int64
    package var before = Data()
    package var after = Data()

    package init(file: URL, length: Int64) {
        self.file = file
        self.length = length
    }
}
