/// How deep texts of JSON may nest, so that decoding them does not overflow a thread's stack.
public enum JSONDepth {
    /// How deep arrays and objects may nest unless told otherwise: 128.
    ///
    /// Foundation's decoder itself stops at 512, but a type that contains itself overflows a stack of 512 KiB, which
    /// secondary threads of Apple systems have, at that depth.
    public static let standard = 128

    /// The deepest limit that may be set: 512, where Foundation's decoder stops.
    public static let ceiling = 512

    /// Whether a text in UTF-8 nests deeper than a limit; in one pass, without parsing it.
    package static func isExceeded(by bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
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
