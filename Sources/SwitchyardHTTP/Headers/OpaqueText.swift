/// Field values whose bytes are not valid UTF-8, as text that can be converted back to the original bytes.
///
/// Field values are opaque beyond ASCII (RFC 9110 section 5.5). The text shows such bytes as Latin-1, which old servers
/// use. A value that is sent back to its server must have the original bytes. Each character that was decoded as
/// Latin-1 is therefore followed by a mark that does not occur in text: U+FDD0, a noncharacter that Unicode reserves
/// for internal use.
package enum OpaqueText {
    /// The mark in UTF-8.
    ///
    /// A string literal must not contain a noncharacter, so `mark` is decoded from these bytes.
    private static let markBytes: [UInt8] = [0xEF, 0xB7, 0x90]
    private static let mark = String(decoding: markBytes, as: UTF8.self).unicodeScalars.first

    /// Returns Latin-1 text with a mark after each non-ASCII character.
    static func marked(_ latin1: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in latin1.unicodeScalars {
            text.append(scalar)
            if !scalar.isASCII, let mark { text.append(mark) }
        }
        return String(text)
    }

    /// Returns the text without the marks of opaque bytes, for display.
    package static func unmarked(_ text: String) -> String {
        hasMarks(text) ? String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != mark })) : text
    }

    package static func hasMarks(_ text: String) -> Bool {
        text.withContiguousUTF8 { bytes in
            bytes.contains(markBytes[0]) && bytes.indices.contains { bytes[$0...].starts(with: markBytes) }
        }
    }

    /// Returns the bytes to send: the original byte for each marked character, and UTF-8 for all other characters.
    package static func bytes(of text: String) -> [UInt8] {
        guard hasMarks(text) else { return Array(text.utf8) }
        var bytes: [UInt8] = []
        forEachPiece(of: text) { scalar, byte in
            if let byte { bytes.append(byte) } else { bytes += Array(String(scalar).utf8) }
        }
        return bytes
    }

    /// Returns the text as part of a URL: marked characters are percent-encoded as their original bytes.
    static func percentEncoded(_ text: String) -> String {
        guard hasMarks(text) else { return text }
        var encoded = String.UnicodeScalarView()
        forEachPiece(of: text) { scalar, byte in
            if let byte { encoded += escape(of: byte).unicodeScalars } else { encoded.append(scalar) }
        }
        return String(encoded)
    }

    private static func escape(of byte: UInt8) -> String {
        var output: [UInt8] = []
        PercentEncoding.appendEscaped(byte, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Calls `handle` for each character, with its original byte if the character is marked.
    private static func forEachPiece(of text: String, _ handle: (Unicode.Scalar, UInt8?) -> Void) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let isMarked = rest.first == mark && (0x80...0xFF).contains(scalar.value)
            if isMarked { rest.removeFirst() }
            handle(scalar, isMarked ? UInt8(scalar.value) : nil)
        }
    }
}
