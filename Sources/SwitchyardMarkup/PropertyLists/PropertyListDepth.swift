import Foundation
import SwitchyardAPI
import SwitchyardServices

/// A check that rejects property lists whose nesting would overflow the stack of the decoder.
///
/// Foundation has no depth limit. If a binary array contains itself, Foundation follows the references without end, and
/// the process crashes.
enum PropertyListDepth {
    /// Checks the nesting depth of a property list in one pass without decoding it.
    ///
    /// - Parameters:
    ///   - data: The property list, in XML or binary form.
    ///   - limit: The maximum nesting depth of arrays and dictionaries.
    /// - Throws: ``DecodingFailure`` if the property list is nested deeper, or its depth cannot be determined.
    static func check(_ data: Data, limit: Int = JSONDepth.standard) throws(DecodingFailure) {
        let bytes = [UInt8](data)
        if bytes.starts(with: "bplist0".utf8) {
            try BinaryPropertyList(bytes).check(limit: limit)
        } else {
            try checkMarkup(bytes, limit: limit)
        }
    }

    private static func checkMarkup(_ bytes: [UInt8], limit: Int) throws(DecodingFailure) {
        try checkForm(bytes)
        // A zero byte means that the encoding is not ASCII-compatible, such as UTF-16, so the bytes cannot be scanned
        // for tags.
        if let null = bytes.firstIndex(of: 0) { throw DecodingFailure(.malformed(offset: null)) }
        var markup = PropertyListMarkup(bytes)
        var depth = 0
        while let tag = try markup.next() {
            if tag == .closing { depth = max(0, depth - 1) }
            guard tag == .opening || tag == .empty else { continue }
            // The root element increases `depth`, but does not count as nesting.
            guard depth <= limit else { throw DecodingFailure(.tooDeep(limit: limit)) }
            if tag == .opening { depth += 1 }
        }
    }

    /// Throws an error if the property list is in the old-style format.
    ///
    /// Foundation also decodes this format. Its parentheses and braces create nesting.
    private static func checkForm(_ bytes: [UInt8]) throws(DecodingFailure) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let first = bytes[start...].firstIndex { !" \t\r\n".utf8.contains($0) } ?? bytes.count
        guard first < bytes.count, bytes[first] == UInt8(ascii: "<") else {
            throw DecodingFailure(.malformed(offset: first))
        }
        guard let encoding = encoding(of: bytes[first...]) else { return }
        guard plainEncodings.contains(encoding) || encoding.hasPrefix("iso-8859-") || encoding.hasPrefix("windows-125")
        else {
            throw DecodingFailure(.malformed(offset: first), detail: "the encoding \(encoding) is not supported")
        }
    }

    /// The encodings in which a byte of an ASCII character is never part of another character, so that tags can be
    /// found byte by byte.
    ///
    /// Shift_JIS, GBK, GB 18030 and Big5 are not included, because the second byte of a character may be `]` or `|`.
    private static let plainEncodings: Set<String> = [
        "utf-8", "utf8", "us-ascii", "ascii", "macintosh", "koi8-r", "koi8-u", "euc-jp", "euc-kr",
    ]

    /// Returns the encoding that the property list declares, or `nil` if it declares none.
    private static func encoding(of bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.starts(with: "<?xml".utf8), let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let declaration = String(decoding: bytes[..<end], as: UTF8.self)
        return declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)/).map { $0.1.lowercased() }
    }
}

/// The sequence of tags in an XML property list.
private struct PropertyListMarkup {
    enum Tag {
        case opening
        case closing
        /// A self-closing tag, which opens and closes an element.
        case empty
        /// Markup that is not a tag, such as a comment or a CDATA section.
        case other
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() throws(DecodingFailure) -> Tag? {
        guard let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) else { return nil }
        position = start + 1
        for (opening, end) in [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")] where skip(opening) {
            try skip(behind: Array(end.utf8))
            return .other
        }
        let isClosing = skip("/")
        let isDeclaration = skip("!")
        guard let end = bytes[position...].firstIndex(where: { $0 == UInt8(ascii: ">") || Self.isForbidden($0) }),
            bytes[end] == UInt8(ascii: ">")
        else { throw DecodingFailure(.malformed(offset: start)) }
        position = end + 1
        if isClosing || isDeclaration { return isClosing ? .closing : .other }
        return bytes[end - 1] == UInt8(ascii: "/") ? .empty : .opening
    }

    /// Returns whether a byte is not allowed inside a tag of a property list.
    ///
    /// `<` starts another tag, and `[` starts the declarations of a document type.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "<") || byte == UInt8(ascii: "[")
    }

    private mutating func skip(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func skip(behind end: [UInt8]) throws(DecodingFailure) {
        let start = position
        while position + end.count <= bytes.count {
            position += 1
            if bytes[(position - 1)...].starts(with: end) {
                position += end.count - 1
                return
            }
        }
        throw DecodingFailure(.malformed(offset: start))
    }
}
