package import Foundation

/// The CRC-32 checksum (ISO 3309) that Ethernet, gzip and PNG use to detect damaged bytes.
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// Returns the checksum of contiguous bytes.
    ///
    /// The function does not take an arbitrary sequence, because generic code would be slow when called from another
    /// module.
    package static func checksum(_ bytes: some ContiguousBytes) -> UInt32 {
        bytes.withUnsafeBytes { bytes in
            ~bytes.reduce(0xFFFF_FFFF) { value, byte in table[Int((value ^ UInt32(byte)) & 0xFF)] ^ (value >> 8) }
        }
    }
}
