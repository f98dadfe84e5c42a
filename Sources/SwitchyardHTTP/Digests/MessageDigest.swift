package import Foundation

/// Hash functions for signatures, cache keys and the file keys that some servers require.
package enum MessageDigest {
    /// Returns the SHA-256 digest of bytes (FIPS 180-4), 32 bytes.
    package static func sha256(_ data: some Sequence<UInt8>) -> Data {
        Data(SHA256.digest(of: data))
    }

    /// Returns the MD5 digest of bytes (RFC 1321), 16 bytes; it is not secure against deliberate collisions.
    package static func md5(_ data: some Sequence<UInt8>) -> Data {
        Data(MD5.digest(of: data))
    }

    /// Returns the HMAC-SHA-256 of a message (RFC 2104), 32 bytes.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - key: The secret key, of any length.
    /// - Returns: The authentication code.
    package static func hmacSHA256(_ message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> Data {
        var block = Array(key)
        if block.count > 64 { block = SHA256.digest(of: block) }
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = SHA256.digest(of: block.map { $0 ^ 0x36 } + Array(message))
        return Data(SHA256.digest(of: block.map { $0 ^ 0x5c } + inner))
    }
}

extension Data {
    /// The bytes as lower-case hexadecimal digits, the usual form of a digest.
    package var hexText: String {
        var output = ByteBuffer(capacity: count * 2)
        for byte in self {
            output.append(PercentEncoding.hexDigit(byte >> 4) | 0x20)
            output.append(PercentEncoding.hexDigit(byte & 15) | 0x20)
        }
        return output.text()
    }
}

/// A digest algorithm.
package enum DigestAlgorithm: Sendable, Hashable {
    case sha256
    case md5
}

/// An incremental digest of content that arrives in several parts.
package struct RunningDigest: Sendable {
    package let algorithm: DigestAlgorithm
    /// The number of bytes so far.
    package private(set) var count: Int64 = 0
    private var hash: any BlockHash

    package init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        hash =
            switch algorithm {
            case .sha256: SHA256()
            case .md5: MD5()
            }
    }

    /// The digest of the bytes so far.
    package var bytes: Data {
        var hash = hash
        return Data(hash.finish())
    }

    /// Adds the next bytes.
    package mutating func update(_ piece: Data) {
        count += Int64(piece.count)
        hash.update([UInt8](piece))
    }
}

/// A buffer that splits bytes into the 64-byte blocks of the MD4 family of hashes, and pads the last block.
struct BlockBuffer {
    private var rest: [UInt8] = []
    /// The number of bytes so far; 64 bits, so the length of a file is not limited.
    private var count: UInt64 = 0

    mutating func append(_ bytes: [UInt8], _ compress: (UnsafeRawBufferPointer) -> Void) {
        count &+= UInt64(bytes.count)
        rest += bytes
        let whole = rest.count - rest.count % 64
        guard whole > 0 else { return }
        rest.withUnsafeBytes { buffer in
            for start in stride(from: 0, to: whole, by: 64) {
                compress(UnsafeRawBufferPointer(rebasing: buffer[start..<start + 64]))
            }
        }
        rest.removeFirst(whole)
    }

    /// Appends the padding: a one bit, zeros and the length in bits.
    mutating func finish(isBigEndian: Bool, _ compress: (UnsafeRawBufferPointer) -> Void) {
        let bits = count &* 8
        let zeros = (119 - Int(count % 64)) % 64
        let length = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64(isBigEndian ? 7 - $0 : $0))) }
        append([0x80] + [UInt8](repeating: 0, count: zeros) + length, compress)
    }
}

/// An incremental hash of the MD4 family.
protocol BlockHash: Sendable {
    mutating func update(_ bytes: [UInt8])
    mutating func finish() -> [UInt8]
}
