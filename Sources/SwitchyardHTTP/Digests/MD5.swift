import Foundation

/// The MD5 hash (RFC 1321), for servers that require it for file keys or old signatures.
///
/// MD5 is cryptographically broken. No security of the library depends on it.
struct MD5: BlockHash {
    private var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
    private var blocks = BlockBuffer()

    /// Returns the digest of bytes in memory.
    static func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var hash = MD5()
        hash.update(Array(bytes))
        return hash.finish()
    }

    mutating func update(_ bytes: [UInt8]) {
        blocks.append(bytes) { Self.compress(&state, $0) }
    }

    mutating func finish() -> [UInt8] {
        blocks.finish(isBigEndian: false) { Self.compress(&state, $0) }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
    /// The absolute sines of 1 to 64 radians, multiplied by 2 to the power of 32 and rounded down.
    private static let constants: [UInt32] = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }

    private static func compress(_ state: inout [UInt32], _ block: UnsafeRawBufferPointer) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mixed, index) = round(step, b, c, d)
            let word = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
            let sum = a &+ mixed &+ constants[step] &+ word
            let shift = shifts[step / 16][step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        for (index, value) in [a, b, c, d].enumerated() { state[index] &+= value }
    }

    /// Returns the result of the MD5 round function, and the index of the message word, for one of the 64 steps of a
    /// block.
    private static func round(_ step: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32) -> (UInt32, Int) {
        switch step / 16 {
        case 0: (b & c | ~b & d, step)
        case 1: (d & b | ~d & c, (5 * step + 1) % 16)
        case 2: (b ^ c ^ d, (3 * step + 5) % 16)
        default: (c ^ (b | ~d), 7 * step % 16)
        }
    }
}
