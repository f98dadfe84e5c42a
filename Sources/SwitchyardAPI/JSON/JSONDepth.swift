/// Guards decoders against texts that nest so deep that decoding them would overflow a thread's stack.
public enum JSONDepth {
    /// How deep arrays and objects may nest unless told otherwise: 128.
    ///
    /// Foundation's decoder itself stops at 512, but a type that contains itself overflows a stack of 512 KiB, which
    /// secondary threads of Apple systems have, at that depth.
    public static let standard = 128

    /// The deepest limit that may be set: 512, where Foundation's decoder stops.
    public static let ceiling = 512

    /// Checks a text in one pass, without parsing it.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - limit: How deep it may nest.
    /// - Throws: ``DecodingFailure`` when it nests deeper.
    static func check(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(DecodingFailure) {
        // Counting the opening brackets is many times faster than following the text, and enough for most answers.
        guard openings(bytes) > limit, exceeds(bytes, limit: limit) else { return }
        throw DecodingFailure(.tooDeep(limit: limit))
    }

    private static func openings(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        // `[` is 0x5B and `{` is 0x7B: they differ in one bit.
        for byte in bytes where byte | 0x20 == 0x7B { count += 1 }
        return count
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
