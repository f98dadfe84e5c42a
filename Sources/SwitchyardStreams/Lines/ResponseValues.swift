public import Foundation
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The values of a `StreamedResponse` that contains JSON lines: one JSON value per line, decoded as soon as the line is
/// complete.
///
/// Empty lines are skipped (<https://jsonlines.org>). The nesting depth of a value is limited to 128, so that no value
/// overflows the stack of the thread on which it is decoded.
public struct ResponseValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// A decoded value.
    public typealias Element = Value

    let body: LiveBody
    let decoder: JSONDecoder
    let limit: Int

    /// Creates an iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: LineReader(body, .lineFeed, limit: limit), body: body, decoder: decoder)
    }

    /// An iterator over the values of the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var reader: LineReader
        let body: LiveBody
        let decoder: JSONDecoder
        private var line = 0

        init(reader: LineReader, body: LiveBody, decoder: JSONDecoder) {
            self.reader = reader
            self.body = body
            self.decoder = decoder
        }

        /// Returns the next value, or `nil` at the end.
        ///
        /// - Throws: `RequestFailure` if the body is interrupted, or ``LineDecodingError`` if a line cannot be decoded.
        ///   A line that cannot be decoded ends the transfer.
        public mutating func next() async throws -> Value? {
            while let bytes = try await reader.next() {
                line += 1
                guard bytes.contains(where: { !" \t\r".utf8.contains($0) }) else { continue }
                do {
                    try Self.checkDepth(of: bytes)
                    return try decoder.decode(Value.self, from: bytes)
                } catch {
                    body.cancel(.cancelled)
                    throw LineDecodingError(line: line, underlying: error)
                }
            }
            return nil
        }

        private static func checkDepth(of bytes: Data) throws {
            guard bytes.withUnsafeBytes({ JSONDepth.isExceeded(by: $0, limit: JSONDepth.standard) }) else { return }
            let words = "the line is nested deeper than \(JSONDepth.standard) levels"
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: words))
        }
    }
}

/// An error for a line of a stream that could not be decoded.
public struct LineDecodingError: Error, CustomStringConvertible {
    /// The number of the line, counted from 1.
    public var line: Int
    /// The error of the decoder.
    public var underlying: any Error

    /// The line number, the decoder's error, and the coding path of the error, without any value from the line.
    public var description: String { "line \(line) cannot be decoded: \(complaint)" }

    /// The description of the decoder's error without its own text, because that text may quote the input.
    private var complaint: String {
        guard let error = underlying as? DecodingError else { return "\(type(of: underlying))" }
        switch error {
        case .keyNotFound(let key, let context): return "key missing\(Self.place(context.codingPath + [key]))"
        case .valueNotFound(_, let context): return "value missing\(Self.place(context.codingPath))"
        case .typeMismatch(let type, let context): return "not of type \(type)\(Self.place(context.codingPath))"
        case .dataCorrupted(let context): return "unusable\(Self.place(context.codingPath))"
        @unknown default: return "\(type(of: error))"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "" : " at \(path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "."))"
    }
}

extension StreamedResponse.Bytes {
    /// Returns the values of the body's JSON lines.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - decoder: The decoder of each line; it must not be changed later.
    ///   - limit: The maximum length of a line in bytes; 1 MiB unless given.
    /// - Returns: The values.
    public func values<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder(),
        limit: Int = 1 << 20
    ) -> ResponseValues<Value> {
        ResponseValues(body: body, decoder: decoder, limit: limit)
    }
}
