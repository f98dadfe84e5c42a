public import Foundation

/// Fingerprints of bytes, for signatures, cache keys and the file keys that some servers ask for.
public enum MessageDigest {
    /// The SHA-256 of bytes (FIPS 180-4), 32 bytes.
    public static func sha256(_ data: some Sequence<UInt8>) -> Data {
        Data(SHA256.digest(of: data))
    }

    /// The MD5 of bytes (RFC 1321), 16 bytes; not secure against anybody who wants two inputs with one digest.
    public static func md5(_ data: some Sequence<UInt8>) -> Data {
        Data(MD5.digest(of: data))
    }

    /// The keyed hash of a message with SHA-256 (RFC 2104), 32 bytes.
    ///
    /// - Parameters:
    ///   - message: What is signed.
    ///   - key: The secret, of any length.
    /// - Returns: The code.
    public static func hmacSHA256(_ message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> Data {
        var block = Array(key)
        if block.count > 64 { block = SHA256.digest(of: block) }
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = SHA256.digest(of: block.map { $0 ^ 0x36 } + Array(message))
        return Data(SHA256.digest(of: block.map { $0 ^ 0x5c } + inner))
    }
}

extension Data {
    /// The bytes in hexadecimal, in lower case: the usual form of a digest.
    public var hexText: String {
        var output = ByteBuffer(capacity: count * 2)
        for byte in self {
            output.append(PercentEncoding.hexDigit(byte >> 4) | 0x20)
            output.append(PercentEncoding.hexDigit(byte & 15) | 0x20)
        }
        return output.text()
    }
}
