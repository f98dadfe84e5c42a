/// Limits on the nesting depth of JSON, so that decoding does not overflow a thread's stack.
@usableFromInline package enum JSONDepth {
    /// The default maximum nesting depth of arrays and objects: 128.
    ///
    /// Foundation's decoder has a limit of 512. At that depth, a recursive type overflows a stack of 512 KiB, the stack
    /// size of secondary threads on Apple systems.
    @usableFromInline package static let standard = 128

    /// The highest limit that can be set: 512, as in Foundation's decoder.
    package static let ceiling = 512

    /// Whether UTF-8 JSON nests deeper than a limit; the check takes one pass without parsing.
    package static func isExceeded(by bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        // Counting the opening brackets is many times faster than tracking the depth, and is enough for most responses.
        openings(bytes) > limit && exceeds(bytes, limit: limit)
    }

    /// Counts the opening brackets, including brackets in strings, eight bytes at a time.
    private static func openings(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        var index = 0
        while bytes.count - index >= 8 {
            // Each byte of `sums` is a counter that holds at most 255, so at most 255 words are added to it.
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

    /// Returns a word in which each byte is 1 if that byte of `word` is an opening bracket, and 0 otherwise.
    @inline(__always)
    private static func openings(_ word: UInt64) -> UInt64 {
        let each: UInt64 = 0x0101_0101_0101_0101
        // `[` is 0x5B and `{` is 0x7B, so they differ in one bit. An opening bracket becomes a zero byte here.
        let rest = (word | 0x20 &* each) ^ (0x7B &* each)
        // The highest bit of a byte becomes 1 unless the byte is zero, without a carry into the next byte.
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
