public import Foundation

/// Compresses the bodies of requests, for servers that understand it.
///
/// ### Use
///
///     options.generator.modifiers.append(RequestCompressor(.gzip).compress)
///
/// Put it in front of a signer that signs what is sent, behind one that signs what is meant. Bodies in memory are
/// compressed; files and streams go as they are.
public struct RequestCompressor: Sendable {
    /// The format, as `Content-Encoding` names it.
    public enum Format: String, Sendable, Hashable {
        /// The zlib format (RFC 1950), which HTTP calls deflate.
        case deflate
        /// The gzip format (RFC 1952).
        case gzip
    }

    /// What is done about a request that has a `Content-Encoding` already.
    public enum Encoded: Sendable, Hashable {
        /// It is left as it is; the default.
        case skipped
        /// It is compressed, and its field replaced.
        case replaced
        /// It is an error.
        case refused
    }

    /// The format.
    public var format: Format
    /// Decides by the body; bodies of 1,024 bytes or more unless set, below which little is gained.
    public var isWorthwhile: @Sendable (Data) -> Bool
    /// What is done about a request that has a `Content-Encoding` already.
    public var encoded: Encoded

    /// Creates a compressor.
    ///
    /// - Parameters:
    ///   - format: The format; deflate unless given.
    ///   - encoded: What is done about a request that is encoded already; it is left as it is unless given.
    ///   - isWorthwhile: Decides by the body; 1,024 bytes are enough unless given.
    public init(
        _ format: Format = .deflate,
        encoded: Encoded = .skipped,
        isWorthwhile: @escaping @Sendable (Data) -> Bool = { $0.count >= 1024 }
    ) {
        self.format = format
        self.encoded = encoded
        self.isWorthwhile = isWorthwhile
    }

    /// Compresses the body of a request and names the format in `Content-Encoding`.
    ///
    /// A body that would not get smaller stays as it is, and so does one whose bytes `Content-Digest` speaks of.
    ///
    /// - Throws: ``RequestError/body(kind:reason:)`` when it is encoded already and ``encoded`` refuses that.
    @Sendable
    public func compress(_ request: inout HTTPRequest) throws {
        guard case .data(let data) = request.body, isWorthwhile(data) else { return }
        if request.headers["Content-Encoding"] != nil {
            switch encoded {
            case .skipped: return
            case .replaced: break
            case .refused:
                throw RequestError.body(kind: "encoded", reason: .encodingFailed("it has a Content-Encoding"))
            }
        }
        guard request.headers["Content-Digest"] == nil else { return }
        let compressed = Self.compressed(data, format)
        guard compressed.count < data.count else { return }
        request.body = .data(compressed)
        request.headers.set("Content-Encoding", format.rawValue)
    }

    /// Compresses bytes.
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
