/// Field values whose bytes are not UTF-8, as text that goes wherever text goes and comes out as the same bytes.
///
/// A field's value is opaque beyond ASCII (RFC 9110 section 5.5). Such bytes are shown as Latin-1, which is what old servers
/// mean; what is sent back to a server has to be its own bytes again. So each of them is followed here by a mark that no text
/// has: U+FDD0, a noncharacter, which Unicode leaves to programs for their own use.
package enum OpaqueText {
    /// The mark in UTF-8, and as a character, which no literal may hold.
    private static let markBytes: [UInt8] = [0xEF, 0xB7, 0x90]
    private static let mark = String(decoding: markBytes, as: UTF8.self).unicodeScalars.first

    /// Latin-1 with a mark behind each character beyond ASCII.
    static func marked(_ latin1: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in latin1.unicodeScalars {
            text.append(scalar)
            if !scalar.isASCII, let mark { text.append(mark) }
        }
        return String(text)
    }

    /// The text as it is shown: without marks.
    package static func unmarked(_ text: String) -> String {
        hasMarks(text) ? String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != mark })) : text
    }

    package static func hasMarks(_ text: String) -> Bool {
        text.withContiguousUTF8 { bytes in
            bytes.contains(markBytes[0]) && bytes.indices.contains { bytes[$0...].starts(with: markBytes) }
        }
    }

    /// The bytes that go out: a marked character is the byte that it was, all others are UTF-8.
    package static func bytes(of text: String) -> [UInt8] {
        guard hasMarks(text) else { return Array(text.utf8) }
        var bytes: [UInt8] = []
        forEachPiece(of: text) { scalar, byte in
            if let byte { bytes.append(byte) } else { bytes += Array(String(scalar).utf8) }
        }
        return bytes
    }

    /// The text as part of a URL: marked characters are percent-encoded as the bytes that they were.
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

    /// Goes through the characters; a marked one comes with its byte.
    private static func forEachPiece(of text: String, _ handle: (Unicode.Scalar, UInt8?) -> Void) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let isMarked = rest.first == mark && (0x80...0xFF).contains(scalar.value)
            if isMarked { rest.removeFirst() }
            handle(scalar, isMarked ? UInt8(scalar.value) : nil)
        }
    }
}
