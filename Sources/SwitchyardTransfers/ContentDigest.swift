public import Foundation
import SwitchyardHTTP

/// A digest that identifies content (RFC 9530).
///
///     let expected = ContentDigest(.sha256, hexText: release.checksum)
public struct ContentDigest: Sendable, Hashable {
    /// A digest algorithm, by its name in HTTP.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// SHA-256 (FIPS 180-4), 32 bytes.
        case sha256 = "sha-256"
        /// MD5 (RFC 1321), 16 bytes. It detects faults of disk or network, but not deliberate changes.
        case md5
    }

    /// The digest algorithm.
    public let algorithm: Algorithm
    /// The bytes of the digest.
    public let bytes: Data

    /// Creates a digest, or returns `nil` if the number of bytes does not match the algorithm.
    public init?(_ algorithm: Algorithm, bytes: Data) {
        guard bytes.count == algorithm.length else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Creates a digest from hexadecimal digits in lower or upper case, or returns `nil` if the text is invalid.
    public init?(_ algorithm: Algorithm, hexText: String) {
        let digits = hexText.utf8.map(PercentEncoding.value)
        guard digits.count == 2 * algorithm.length, !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        let bytes = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
        self.init(algorithm, bytes: Data(bytes))
    }

    /// Creates a digest from Base64, as in `Content-MD5` and in a ``fieldValue``, or returns `nil` if the text is
    /// invalid.
    public init?(_ algorithm: Algorithm, base64Text: String) {
        guard let bytes = Data(base64Encoded: base64Text) else { return nil }
        self.init(algorithm, bytes: bytes)
    }

    init(_ hash: RunningDigest) {
        algorithm = Algorithm(hash.algorithm)
        bytes = hash.bytes
    }

    /// The digest as a value of `Content-Digest` and `Repr-Digest`: `sha-256=:…:` (RFC 9530 section 2).
    public var fieldValue: String { "\(algorithm.rawValue)=:\(bytes.base64EncodedString()):" }
}

extension ContentDigest: CustomStringConvertible {
    /// The algorithm and the digest in hexadecimal.
    public var description: String { "\(algorithm.rawValue) \(bytes.hexText)" }
}

extension ContentDigest.Algorithm {
    /// The digest algorithm of the core library that corresponds to this algorithm.
    var core: DigestAlgorithm {
        switch self {
        case .sha256: .sha256
        case .md5: .md5
        }
    }

    fileprivate init(_ core: DigestAlgorithm) {
        switch core {
        case .sha256: self = .sha256
        case .md5: self = .md5
        }
    }

    /// The length of a digest in bytes.
    fileprivate var length: Int {
        switch self {
        case .sha256: 32
        case .md5: 16
        }
    }
}
