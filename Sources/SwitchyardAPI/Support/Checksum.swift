/// The XXH64 checksum, which detects damaged bytes at several bytes per nanosecond.
///
/// The xxHash specification defines the function (github.com/Cyan4973/xxHash, doc/xxhash_spec.md). It detects
/// accidental changes, not deliberate collisions.
package enum Checksum {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// Returns the checksum of bytes.
    package static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var position = 0
        var sum = bytes.count >= 32 ? stripes(bytes, seed, &position) : seed &+ prime5
        sum &+= UInt64(bytes.count)
        while position + 8 <= bytes.count {
            sum ^= round(0, word(bytes, position))
            sum = rotate(sum, 27) &* prime1 &+ prime4
            position += 8
        }
        if position + 4 <= bytes.count {
            let half = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
            sum ^= UInt64(half) &* prime1
            sum = rotate(sum, 23) &* prime2 &+ prime3
            position += 4
        }
        for byte in bytes[position...] {
            sum ^= UInt64(byte) &* prime5
            sum = rotate(sum, 11) &* prime1
        }
        return finished(sum)
    }

    /// Processes 32 bytes at a time in four independent sums, which a processor computes in parallel.
    private static func stripes(_ bytes: UnsafeRawBufferPointer, _ seed: UInt64, _ position: inout Int) -> UInt64 {
        var first = seed &+ prime1 &+ prime2
        var second = seed &+ prime2
        var third = seed
        var fourth = seed &- prime1
        while position + 32 <= bytes.count {
            first = round(first, word(bytes, position))
            second = round(second, word(bytes, position + 8))
            third = round(third, word(bytes, position + 16))
            fourth = round(fourth, word(bytes, position + 24))
            position += 32
        }
        let sum = rotate(first, 1) &+ rotate(second, 7) &+ rotate(third, 12) &+ rotate(fourth, 18)
        return [first, second, third, fourth].reduce(sum) { ($0 ^ round(0, $1)) &* prime1 &+ prime4 }
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    private static func round(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        rotate(sum &+ word &* prime2, 31) &* prime1
    }

    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        value &<< bits | value &>> (64 &- bits)
    }

    private static func finished(_ sum: UInt64) -> UInt64 {
        var sum = sum
        sum ^= sum &>> 33
        sum = sum &* prime2
        sum ^= sum &>> 29
        sum = sum &* prime3
        return sum ^ sum &>> 32
    }
}
