/// Cuts bytes into the blocks of 64 that the MD4 family of hashes works on, and pads the last.
struct BlockBuffer {
    private var rest: [UInt8] = []
    /// The number of bytes so far; 64 bits, so that no file is too long.
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

    /// Pads with a one bit, zeros and the length in bits.
    mutating func finish(isBigEndian: Bool, _ compress: (UnsafeRawBufferPointer) -> Void) {
        let bits = count &* 8
        let zeros = (119 - Int(count % 64)) % 64
        let length = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64(isBigEndian ? 7 - $0 : $0))) }
        append([0x80] + [UInt8](repeating: 0, count: zeros) + length, compress)
    }
}

/// A hash of the MD4 family, fed piece by piece.
protocol BlockHash: Sendable {
    mutating func update(_ bytes: [UInt8])
    mutating func finish() -> [UInt8]
}
