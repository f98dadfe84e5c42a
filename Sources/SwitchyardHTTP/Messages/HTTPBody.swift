public import Foundation

/// The body of a request.
public enum HTTPBody: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case data(Data)
    /// A file that is read while it is sent.
    ///
    /// The length is determined when the exchange starts. If the file shrinks while it is sent, the exchange fails.
    /// With `CurlTransport` any change to the file makes the exchange fail.
    case file(URL)
    /// Bytes that are produced while they are sent.
    indirect case stream(Stream)

    /// A body that is produced while it is sent.
    public struct Stream: Sendable {
        /// The number of bytes in the stream.
        ///
        /// If `nil`, the length is unknown and the body is sent chunked.
        public var length: Int64? {
            didSet { enclosure = nil }
        }
        /// A closure that creates a reader, which starts at the first byte.
        ///
        /// It is called once for every attempt.
        public var makeReader: @Sendable () throws -> any HTTPBodyReader {
            didSet { enclosure = nil }
        }
        /// The stream as one file with the bytes before and after it, or `nil` if the stream is anything else.
        ///
        /// A transport that itself checks that the file does not change may send this value instead of using a reader.
        package var enclosure: FileEnclosure?

        /// Creates a streamed body.
        public init(length: Int64?, makeReader: @escaping @Sendable () throws -> any HTTPBodyReader) {
            self.length = length
            self.makeReader = makeReader
        }
    }
}

/// A reader that returns the bytes of a streamed body in order.
///
/// Only one exchange uses a reader, with one call at a time.
public protocol HTTPBodyReader: Sendable {
    /// Returns at most `maximumLength` bytes, or `nil` at the end.
    ///
    /// The function may suspend for any length of time. While it is suspended, the transport pauses the exchange
    /// without blocking a thread.
    func read(maximumLength: Int) async throws -> Data?
}

/// A body that consists of one file and the bytes before and after it, as in a form with a file.
package struct FileEnclosure: Sendable {
    package var file: URL
    /// The length of the file when it was checked.
    package var length: Int64
    package var before = Data()
    package var after = Data()

    package init(file: URL, length: Int64) {
        self.file = file
        self.length = length
    }
}
