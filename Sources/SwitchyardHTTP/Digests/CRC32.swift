package import Foundation

/// The checksum of Ethernet, gzip and PNG (ISO 3309), to notice damaged bytes.
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// The sum of bytes, which are gone through as they lie in memory: code for any sequence would be slow for those who
    /// call it from another target.
    package static func checksum(_ bytes: some ContiguousBytes) -> UInt32 {
        bytes.withUnsafeBytes { bytes in
            ~bytes.reduce(0xFFFF_FFFF) { value, byte in table[Int((value ^ UInt32(byte)) & 0xFF)] ^ (value >> 8) }
        }
    }
}
