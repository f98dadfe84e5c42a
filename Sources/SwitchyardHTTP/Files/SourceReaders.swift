public import Foundation
import SwitchyardServices

/// A check that a source returns exactly as many bytes as announced.
private struct LengthCheck {
    let announced: Int64?
    var actual: Int64 = 0

    mutating func add(_ count: Int) throws(RequestError) {
        actual += Int64(count)
        guard let announced, actual > announced else { return }
        throw .body(kind: "streamed", reason: .lengthMismatch(announced: announced, actual: actual))
    }

    func finish() throws(RequestError) {
        guard let announced, actual != announced else { return }
        throw .body(kind: "streamed", reason: .lengthMismatch(announced: announced, actual: actual))
    }
}

/// A reader of an asynchronous sequence of `Data`.
final class SequenceBodyReader<Pieces: AsyncSequence & Sendable>: HTTPBodyReader, @unchecked Sendable
where Pieces.Element == Data {
    // @unchecked is sound because a reader belongs to one exchange, which makes one call at a time and awaits it. No
    // two threads access the properties at the same time.
    private var iterator: Pieces.AsyncIterator
    private var rest = Data()
    private var check: LengthCheck

    init(_ pieces: Pieces, length: Int64?) {
        iterator = pieces.makeAsyncIterator()
        check = LengthCheck(announced: length)
    }

    func read(maximumLength: Int) async throws -> Data? {
        while rest.isEmpty {
            guard let piece = try await iterator.next() else {
                try check.finish()
                return nil
            }
            try check.add(piece.count)
            rest = piece
        }
        let piece = rest.prefix(maximumLength)
        rest = rest.dropFirst(maximumLength)
        return piece
    }
}

/// A reader of a Foundation `InputStream`.
final class InputStreamBodyReader: HTTPBodyReader, @unchecked Sendable {
    // @unchecked is sound because a reader belongs to one exchange, which makes one call at a time and awaits it.
    private let stream: InputStream
    private var check: LengthCheck

    init(_ stream: InputStream, length: Int64?) {
        self.stream = stream
        check = LengthCheck(announced: length)
        stream.open()
    }

    deinit {
        stream.close()
    }

    func read(maximumLength: Int) async throws -> Data? {
        // Reading may block until bytes are available, and another task may have to write them first.
        try await BlockingWork.run { () throws(RequestError) in try self.next(atMost: maximumLength) }
    }

    private func next(atMost most: Int) throws(RequestError) -> Data? {
        var buffer = [UInt8](repeating: 0, count: min(max(most, 1), 1 << 18))
        let count = stream.read(&buffer, maxLength: buffer.count)
        guard count >= 0 else {
            let reason = stream.streamError.map { "\($0)" } ?? "the stream failed"
            throw RequestError.body(kind: "streamed", reason: .sourceFailed(reason))
        }
        try check.add(count)
        guard count > 0 else {
            try check.finish()
            return nil
        }
        return Data(buffer[..<count])
    }
}

extension HTTPBody.Stream {
    /// Creates a stream from an asynchronous sequence of data.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes, or `nil` if it is unknown. If the sequence has more or fewer bytes,
    ///     sending fails.
    ///   - sequence: A closure that creates the sequence. It is called for every attempt.
    public init<Pieces: AsyncSequence & Sendable>(
        length: Int64? = nil,
        sequence: @escaping @Sendable () throws -> Pieces
    ) where Pieces.Element == Data {
        self.init(length: length) { SequenceBodyReader(try sequence(), length: length) }
    }

    /// Creates a stream from an `InputStream`.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes, or `nil` if it is unknown. If the stream has more or fewer bytes, sending
    ///     fails.
    ///   - inputStream: A closure that creates the unopened stream. It is called for every attempt, because a stream
    ///     can be read only once.
    public init(length: Int64? = nil, inputStream: @escaping @Sendable () throws -> InputStream) {
        self.init(length: length) { InputStreamBodyReader(try inputStream(), length: length) }
    }
}

extension HTTPBody {
    /// The number of bytes in the body, or `nil` if it is unknown or the file cannot be read.
    public var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(let url): try? FileBody.length(of: url)
        case .stream(let stream): stream.length
        }
    }

    /// Makes a reader that starts at the first byte, or returns `nil` if there is no body.
    ///
    /// - Throws: The error of the source when it is opened; ``RequestError/file(path:reason:)`` for a file.
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
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The bytes.
    /// - Throws: The error of the reader; ``RequestError/body(kind:reason:)`` if there are more than `limit` bytes.
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
