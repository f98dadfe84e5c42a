import SwitchyardServices

/// The parts of a URL or of a relative reference, as slices of its bytes (RFC 3986 appendix B).
///
/// Nothing is validated or changed. The fragment is removed, because it is never sent.
package struct URLParts {
    /// The scheme without its colon, or `nil` if there is none.
    var scheme: ArraySlice<UInt8>?
    /// The bytes between `//` and the path, or `nil` if there is no `//`.
    var authority: ArraySlice<UInt8>?
    /// The path, which may be empty.
    var path: ArraySlice<UInt8>
    /// The bytes after the first `?`, or `nil` if there is none.
    var query: ArraySlice<UInt8>?

    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        if let fragment = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<fragment] }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        if let colon = Self.schemeEnd(rest) {
            scheme = rest[..<colon]
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
            let start = rest.startIndex + 2
            let end = rest[start...].firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[start..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// Whether a text is an absolute URL with scheme and authority.
    package static func areAbsolute(in text: String) -> Bool {
        guard text.hasByte(UInt8(ascii: ":")) else { return false }
        let parts = URLParts(Array(text.utf8))
        return parts.scheme != nil && parts.authority != nil
    }

    /// Returns the position of the colon after a scheme: a letter, then letters, digits, `+`, `-` and `.`.
    private static func schemeEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first, isLetter(first), let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            return nil
        }
        let isScheme = bytes[..<colon].allSatisfy { byte in
            isLetter(byte) || byte.isDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
        }
        return isScheme ? colon : nil
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
    }
}
