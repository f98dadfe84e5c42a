/// Tells how deep a text of JSON nests without parsing it: a decoder may follow it until its stack overflows.
package enum JSONNesting {
    /// How deep arrays and objects may nest unless told otherwise.
    package static let standard = 128

    /// Whether a text nests deeper than a limit.
    package static func isDeeper(_ bytes: UnsafeRawBufferPointer, than limit: Int) -> Bool {
        // Counting the opening brackets is many times faster than following the text, and enough for most answers.
        openings(bytes) > limit && exceeds(bytes, limit: limit)
    }

    /// How many brackets open arrays and objects, those within strings included: eight bytes at a time.
    private static func openings(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        var index = 0
        while bytes.count - index >= 8 {
            // A byte of the sums counts to 255 at most.
            let end = index + min((bytes.count - index) / 8, 255) * 8
            var sums: UInt64 = 0
            while index < end {
                sums &+= openings(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index &+= 8
            }
            while sums > 0 {
                count &+= Int(sums & 0xFF)
                sums >>= 8
            }
        }
        return bytes[index...].reduce(into: count) { count, byte in if byte | 0x20 == 0x7B { count += 1 } }
    }

    /// A word with 1 in the place of each byte that opens, and 0 in that of every other.
    @inline(__always)
    private static func openings(_ word: UInt64) -> UInt64 {
        let each: UInt64 = 0x0101_0101_0101_0101
        // `[` is 0x5B and `{` is 0x7B: they differ in one bit. What opens becomes zero here.
        let rest = (word | 0x20 &* each) ^ (0x7B &* each)
        // The highest bit of a byte becomes 1 unless all its bits are zero; without a carry into the next byte.
        let others = ((rest & (0x7F &* each)) &+ 0x7F &* each) | rest
        return (~others >> 7) & each
    }

    private static func exceeds(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        var depth = 0
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth > limit { return true }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
            default: break
            }
            index += 1
        }
        return false
    }
}
