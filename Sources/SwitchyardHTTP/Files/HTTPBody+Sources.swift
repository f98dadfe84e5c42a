public import Foundation

extension HTTPBody.Stream {
    /// Creates a stream from an asynchronous sequence of data.
    ///
    /// - Parameters:
    ///   - length: The number of bytes in all; `nil` when unknown. A sequence that gives more or fewer is an error.
    ///   - sequence: Makes the sequence; asked anew for every attempt.
    public init<Pieces: AsyncSequence & Sendable>(
        length: Int64? = nil,
        sequence: @escaping @Sendable () throws -> Pieces
    ) where Pieces.Element == Data {
        self.init(length: length) { SequenceBodyReader(try sequence(), length: length) }
    }

    /// Creates a stream from Foundation's input stream.
    ///
    /// - Parameters:
    ///   - length: The number of bytes in all; `nil` when unknown. A stream that gives more or fewer is an error.
    ///   - inputStream: Makes the stream, unopened; asked anew for every attempt, since a stream can be read once.
    public init(length: Int64? = nil, inputStream: @escaping @Sendable () throws -> InputStream) {
        self.init(length: length) { InputStreamBodyReader(try inputStream(), length: length) }
    }
}

extension HTTPBody {
    /// The number of bytes that will be sent; `nil` when it is unknown, or the file cannot be read.
    public var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(let url): try? FileBody.length(of: url)
        case .stream(let stream): stream.length
        }
    }

    /// Makes a reader that starts at the first byte; `nil` when there is no body.
    ///
    /// - Throws: What the source throws when it is opened, ``RequestError/file(path:reason:)`` for a file.
    public func makeReader() throws -> (any HTTPBodyReader)? {
        switch self {
        case .none: nil
        case .data(let data): SegmentedBodyReader([.bytes(data)])
        case .file(let url): SegmentedBodyReader([.file(url, length: try FileBody.length(of: url))])
        case .stream(let stream): try stream.makeReader()
        }
    }

    /// Reads the whole body into memory.
    ///
    /// - Parameter limit: The most bytes that are accepted.
    /// - Returns: The bytes.
    /// - Throws: What reading throws; ``RequestError/body(kind:reason:)`` when there are more than `limit`.
    public func collected(upTo limit: Int) async throws -> Data {
        var result = Data()
        guard let reader = try makeReader() else { return result }
        while let piece = try await reader.read(maximumLength: 1 << 16) {
            result += piece
            guard result.count <= limit else {
                throw RequestError.body(kind: "streamed", reason: .tooLarge(limit: limit))
            }
        }
        return result
    }
}
