import Foundation
import SwitchyardAPI
import SwitchyardServices

/// Guards the decoder of property lists against those that nest so deep that reading them would overflow the stack.
///
/// Foundation sets no limit, follows an array of the binary form that holds itself for ever, and ends the process.
enum PropertyListDepth {
    /// Checks a list in one pass, without making anything of it.
    ///
    /// - Parameters:
    ///   - data: The list, in XML or binary form.
    ///   - limit: How deep arrays and dictionaries may nest.
    /// - Throws: ``DecodingFailure`` when it nests deeper, or is no list whose depth could be told.
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
        // Where bytes are no characters of ASCII, a look at them is none at the text.
        if let null = bytes.firstIndex(of: 0) { throw DecodingFailure(.malformed(offset: null)) }
        var markup = PropertyListMarkup(bytes)
        var depth = 0
        while let tag = try markup.next() {
            if tag == .closing { depth = max(0, depth - 1) }
            guard tag == .opening || tag == .empty else { continue }
            // The element around the whole counts, and is none of those that nest.
            guard depth <= limit else { throw DecodingFailure(.tooDeep(limit: limit)) }
            if tag == .opening { depth += 1 }
        }
    }

    /// Refuses the old form, which Foundation reads as well: it nests by parentheses and braces.
    private static func checkForm(_ bytes: [UInt8]) throws(DecodingFailure) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let first = bytes[start...].firstIndex { !" \t\r\n".utf8.contains($0) } ?? bytes.count
        guard first < bytes.count, bytes[first] == UInt8(ascii: "<") else {
            throw DecodingFailure(.malformed(offset: first))
        }
        guard let encoding = encoding(of: bytes[first...]) else { return }
        guard plainEncodings.contains(encoding) || encoding.hasPrefix("iso-8859-") || encoding.hasPrefix("windows-125")
        else {
            throw DecodingFailure(.malformed(offset: first), detail: "the encoding \(encoding)")
        }
    }

    /// Encodings in which the bytes of tags are tags, and nothing else is.
    ///
    /// Not so in Shift_JIS, GBK, GB 18030 and Big5: the second byte of a character may be `]` or `|` there.
    private static let plainEncodings: Set<String> = [
        "utf-8", "utf8", "us-ascii", "ascii", "macintosh", "koi8-r", "koi8-u", "euc-jp", "euc-kr",
    ]

    /// The encoding that the list says it has; `nil` where it says nothing.
    private static func encoding(of bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.starts(with: "<?xml".utf8), let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let declaration = String(decoding: bytes[..<end], as: UTF8.self)
        return declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)/).map { $0.1.lowercased() }
    }
}

/// The tags of a property list in XML, one after the other.
private struct PropertyListMarkup {
    enum Tag {
        case opening
        case closing
        /// One that is both.
        case empty
        /// None: a comment, text that is taken as it is, and the like.
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

    /// What stands in no tag of a property list: another one, or the declarations of a document type.
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
