/// The grammar of a token, which is a word without spaces and separators (RFC 9110 section 5.6.2).
package enum HTTPToken {
    package static func isValid(_ text: String) -> Bool {
        let characters = characters
        return text.withContiguousUTF8 { bytes in
            for byte in bytes where !characters.contains(byte) { return false }
            return !bytes.isEmpty
        }
    }

    /// Whether a byte is allowed in a token.
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        characters.contains(byte)
    }

    private static let characters = URLCharacters(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"
    )
}

extension Substring.UnicodeScalarView {
    /// The text without leading and trailing spaces and tabs, which are allowed around the parts of a field value (RFC
    /// 9110 section 5.6.3).
    package var trimmed: String {
        func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
        guard let start = firstIndex(where: { !isSpace($0) }), let end = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[start...end])
    }
}
