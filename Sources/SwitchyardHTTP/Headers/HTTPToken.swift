/// The grammar of a token (RFC 9110 section 5.6.2).
package enum HTTPToken {
    package static func isValid(_ text: String) -> Bool {
        let characters = characters
        return text.withContiguousUTF8 { bytes in
            for byte in bytes where !characters.contains(byte) { return false }
            return !bytes.isEmpty
        }
    }

    /// Whether a byte may stand in a token.
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        characters.contains(byte)
    }

    private static let characters = URLCharacters(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"
    )
}
