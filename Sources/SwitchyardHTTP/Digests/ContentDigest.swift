public import Foundation

/// The digest of a content, by which it is told from every other (RFC 9530).
///
///     let expected = ContentDigest(.sha256, hexText: release.checksum)
public struct ContentDigest: Sendable, Hashable {
    /// How a digest follows from the bytes, by the name that HTTP has for it.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// SHA-256 (FIPS 180-4), 32 bytes.
        case sha256 = "sha-256"
        /// MD5 (RFC 1321), 16 bytes: shows a fault of the disk or the wire, and nothing that somebody did on purpose.
        case md5
    }

    /// How it follows from the bytes.
    public let algorithm: Algorithm
    /// The digest itself.
    public let bytes: Data

    /// Creates a digest; `nil` unless there are as many bytes as the algorithm has.
    public init?(_ algorithm: Algorithm, bytes: Data) {
        guard bytes.count == algorithm.length else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Creates a digest of its hexadecimal form, in small or capital letters; `nil` for anything else.
    public init?(_ algorithm: Algorithm, hexText: String) {
        let digits = hexText.utf8.map(PercentEncoding.value)
        guard digits.count == 2 * algorithm.length, !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        let bytes = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
        self.init(algorithm, bytes: Data(bytes))
    }

    /// Creates a digest of its Base64 form, as in `Content-MD5` and in a ``fieldValue``; `nil` for anything else.
    public init?(_ algorithm: Algorithm, base64Text: String) {
        guard let bytes = Data(base64Encoded: base64Text) else { return nil }
        self.init(algorithm, bytes: bytes)
    }

    package init(_ hash: RunningDigest) {
        algorithm = hash.algorithm
        bytes = hash.bytes
    }

    /// The value of `Content-Digest` and `Repr-Digest`: `sha-256=:…:` (RFC 9530 section 2).
    public var fieldValue: String { "\(algorithm.rawValue)=:\(bytes.base64EncodedString()):" }
}

extension ContentDigest: CustomStringConvertible {
    /// The algorithm and the digest in hexadecimal.
    public var description: String { "\(algorithm.rawValue) \(bytes.hexText)" }
}

extension ContentDigest.Algorithm {
    /// The number of bytes of a digest.
    fileprivate var length: Int {
        switch self {
        case .sha256: 32
        case .md5: 16
        }
    }
}
