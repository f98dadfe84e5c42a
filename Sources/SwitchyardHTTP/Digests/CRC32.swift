/// The checksum of Ethernet, gzip and PNG (ISO 3309), to notice damaged bytes.
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    package static func checksum(_ data: some Sequence<UInt8>) -> UInt32 {
        ~data.reduce(0xFFFF_FFFF) { value, byte in table[Int((value ^ UInt32(byte)) & 0xFF)] ^ (value >> 8) }
    }
}
