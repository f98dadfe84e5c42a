public import Foundation
public import SwitchyardHTTP

/// A request modifier that compresses request bodies, for servers that support compressed requests.
///
/// ### Use
///
///     options.generator.modifiers.append(RequestCompressor(.gzip).compress)
///
/// Add the compressor before a signer that signs the encoded bytes, and after a signer that signs the original bytes.
/// Only bodies in memory are compressed. Files and streams are sent unchanged.
public struct RequestCompressor: Sendable {
    /// A compression format, named as in `Content-Encoding`.
    public enum Format: String, Sendable, Hashable {
        /// The zlib format (RFC 1950), which HTTP names `deflate`.
        case deflate
        /// The gzip format (RFC 1952).
        case gzip
    }

    /// The treatment of a request that already has a `Content-Encoding` field.
    public enum Encoded: Sendable, Hashable {
        /// The request is left unchanged. This is the default behavior.
        case skipped
        /// The body is compressed, and the `Content-Encoding` field is replaced.
        case replaced
        /// The request fails with an error.
        case refused
    }

    /// The compression format.
    public var format: Format
    /// A closure that returns whether to compress a body.
    ///
    /// By default, bodies of at least 1,024 bytes are compressed.
    ///
    /// Compressing smaller bodies saves little.
    public var isWorthwhile: @Sendable (Data) -> Bool
    /// The treatment of a request that already has a `Content-Encoding` field.
    public var encoded: Encoded

    /// Creates a compressor.
    ///
    /// - Parameters:
    ///   - format: The compression format; deflate by default.
    ///   - encoded: The treatment of a request that already has a `Content-Encoding` field. By default it is left
    ///     unchanged.
    ///   - isWorthwhile: A closure that returns whether a body is compressed. By default, bodies of at least 1,024
    ///     bytes are compressed.
    public init(
        _ format: Format = .deflate,
        encoded: Encoded = .skipped,
        isWorthwhile: @escaping @Sendable (Data) -> Bool = { $0.count >= 1024 }
    ) {
        self.format = format
        self.encoded = encoded
        self.isWorthwhile = isWorthwhile
    }

    /// Compresses the body of a request and sets `Content-Encoding` to the format.
    ///
    /// A body that compression would not make smaller is left unchanged. The body of a request with a `Content-Digest`
    /// field is also left unchanged, because compression would invalidate the digest.
    ///
    /// - Throws: ``/SwitchyardHTTP/RequestError/body(kind:reason:)`` if the request already has a `Content-Encoding`
    ///   field and ``encoded`` is `.refused`.
    @Sendable
    public func compress(_ request: inout HTTPRequest) throws {
        guard case .data(let data) = request.body, isWorthwhile(data) else { return }
        if request.headers["Content-Encoding"] != nil {
            switch encoded {
            case .skipped: return
            case .replaced: break
            case .refused:
                throw RequestError.body(
                    kind: "encoded",
                    reason: .encodingFailed("the request already has a Content-Encoding")
                )
            }
        }
        guard request.headers["Content-Digest"] == nil else { return }
        let compressed = Self.compressed(data, format)
        guard compressed.count < data.count else { return }
        request.body = .data(compressed)
        request.headers.set("Content-Encoding", format.rawValue)
    }

    /// Returns the data compressed in the format.
    public static func compressed(_ data: Data, _ format: Format) -> Data {
        let input = [UInt8](data)
        let body = Data(Deflate.compressed(input))
        switch format {
        case .deflate:
            return Data([0x78, 0x9C]) + body + bigEndian(adler32(input))
        case .gzip:
            let head = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
            let length = UInt32(truncatingIfNeeded: input.count)
            return head + body + littleEndian(CRC32.checksum(input)) + littleEndian(length)
        }
    }

    // MARK: - Checksums

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var first: UInt32 = 1
        var second: UInt32 = 0
        for byte in bytes {
            first = (first + UInt32(byte)) % 65_521
            second = (second + first) % 65_521
        }
        return second << 16 | first
    }

    private static func bigEndian(_ value: UInt32) -> Data {
        Data((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
    }

    private static func littleEndian(_ value: UInt32) -> Data {
        Data((0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }
}
