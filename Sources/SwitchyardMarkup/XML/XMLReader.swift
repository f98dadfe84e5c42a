import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A parser that reads XML in one pass (XML 1.0, fifth edition).
///
/// The parser is not recursive, so deep nesting cannot overflow the stack.
struct XMLReader {
    private let bytes: [UInt8]
    private let maximumDepth: Int
    private(set) var position = 0
    private var events: [XMLEvent] = []
    private var open: [String] = []
    private var hasRoot = false
    /// The start of the text, after a byte order mark if there is one.
    private var beginning = 0

    init(_ bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    /// Returns the events of the whole text.
    mutating func document() throws(DecodingFailure) -> [XMLEvent] {
        guard let whole = String(validUTF8: bytes) else { throw DecodingFailure(.corrupted) }
        if let wrong = whole.unicodeScalars.firstIndex(where: { !$0.isXML }) {
            throw malformed(at: whole.utf8.distance(from: whole.startIndex, to: wrong))
        }
        _ = take("\u{FEFF}")
        beginning = position
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "<") { try markup() } else { try text() }
        }
        guard hasRoot, open.isEmpty else { throw malformed() }
        return events
    }

    private mutating func text() throws(DecodingFailure) {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            guard !take("]]>") else { throw malformed() }
            position += 1
        }
        guard !open.isEmpty else {
            guard bytes[start..<position].allSatisfy(\.isSpaceOfXML) else { throw malformed(at: start) }
            return
        }
        events.append(.text(try replacingEntities(start..<position)))
    }

    private mutating func markup() throws(DecodingFailure) {
        if take("<!--") {
            let comment = try upTo("--")
            guard take(">") else { throw malformed() }
            events.append(.comment(comment))
        } else if take("<![CDATA[") {
            guard !open.isEmpty else { throw malformed() }
            events.append(.text(try upTo("]]>")))
        } else if take("<?") {
            try instruction()
        } else if take("</") {
            try end()
        } else if take("<!") {
            throw DecodingFailure(.corrupted, detail: "a document type declaration is not supported")
        } else {
            position += 1
            try start()
        }
    }

    private mutating func instruction() throws(DecodingFailure) {
        let start = position - 2
        let target = try name()
        let end = position
        skipWhitespace()
        let hasSpace = position > end
        let text = try upTo("?>")
        guard hasSpace || text.isEmpty else { throw malformed(at: end) }
        if target.lowercased() != "xml" {
            events.append(.instruction(target: target, text: text))
        } else if target != "xml" || start > beginning {
            // The target `xml` is reserved for the XML declaration, which must be at the very start.
            throw malformed(at: start)
        }
    }

    private mutating func start() throws(DecodingFailure) {
        guard !open.isEmpty || !hasRoot else { throw malformed() }
        guard open.count < maximumDepth else { throw DecodingFailure(.tooDeep(limit: maximumDepth)) }
        let name = try name()
        hasRoot = true
        events.append(.start(name: name, attributes: try attributes()))
        if take("/>") {
            events.append(.end(name: name))
        } else {
            guard take(">") else { throw malformed() }
            open.append(name)
        }
    }

    private mutating func end() throws(DecodingFailure) {
        let start = position
        let name = try name()
        skipWhitespace()
        // Names are equal only if their code points are equal (section 1.2). Comparing strings would also treat
        // canonically equivalent names as equal.
        guard take(">"), open.popLast().map({ $0.utf8.elementsEqual(name.utf8) }) ?? false else {
            throw malformed(at: start)
        }
        events.append(.end(name: name))
    }

    private mutating func attributes() throws(DecodingFailure) -> [XMLEvent.Attribute] {
        var attributes: [XMLEvent.Attribute] = []
        var names: Set<[UInt8]> = []
        while true {
            let before = position
            skipWhitespace()
            guard position < bytes.count, bytes[position] != UInt8(ascii: ">"), bytes[position] != UInt8(ascii: "/")
            else { return attributes }
            guard position > before else { throw malformed() }
            let name = try name()
            skipWhitespace()
            guard take("="), names.insert(Array(name.utf8)).inserted else { throw malformed() }
            skipWhitespace()
            attributes.append(XMLEvent.Attribute(name: name, value: try quoted()))
        }
    }

    private mutating func quoted() throws(DecodingFailure) -> String {
        guard position < bytes.count, #""'"#.utf8.contains(bytes[position]) else { throw malformed() }
        let quote = bytes[position]
        position += 1
        let start = position
        while position < bytes.count, bytes[position] != quote {
            guard bytes[position] != UInt8(ascii: "<") else { throw malformed() }
            position += 1
        }
        guard position < bytes.count else { throw malformed() }
        defer { position += 1 }
        return try replacingEntities(start..<position, isAttribute: true)
    }

    private mutating func name() throws(DecodingFailure) -> String {
        let start = position
        while position < bytes.count, bytes[position].isPartOfName { position += 1 }
        guard position > start, !bytes[start].isForbiddenFirst else { throw malformed(at: start) }
        return string(start..<position)
    }

    /// Returns the text before a delimiter, and skips the delimiter.
    private mutating func upTo(_ end: StaticString) throws(DecodingFailure) -> String {
        let start = position
        while position < bytes.count {
            let before = position
            if take(end) { return string(start..<before) }
            position += 1
        }
        throw malformed()
    }

    private mutating func skipWhitespace() {
        while position < bytes.count, bytes[position].isSpaceOfXML { position += 1 }
    }

    private mutating func take(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes.count - position >= wanted.count, bytes[position..<position + wanted.count].elementsEqual(wanted)
        else { return false }
        position += wanted.count
        return true
    }

    /// Returns the text with line ends replaced by LF (section 2.11).
    ///
    /// In an attribute, each line end and each tab becomes a space (section 3.3.3).
    private func string(_ range: Range<Int>, isAttribute: Bool = false) -> String {
        let carriageReturn = UInt8(ascii: "\r")
        guard isAttribute || bytes[range].contains(carriageReturn) else {
            return String(decoding: bytes[range], as: UTF8.self)
        }
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        for index in range {
            let byte = bytes[index]
            let isLineEnd = byte == carriageReturn || byte == UInt8(ascii: "\n")
            if byte == UInt8(ascii: "\n"), index > range.lowerBound, bytes[index - 1] == carriageReturn { continue }
            let isSpace = isAttribute && (isLineEnd || byte == UInt8(ascii: "\t"))
            text.append(isSpace ? UInt8(ascii: " ") : isLineEnd ? UInt8(ascii: "\n") : byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func malformed(at offset: Int? = nil) -> DecodingFailure {
        DecodingFailure(.malformed(offset: offset ?? position))
    }
}

// MARK: - Entities

extension XMLReader {
    /// Returns the text with references such as `&amp;` and `&#228;` replaced.
    ///
    /// A reference to an entity that is not predefined is an error, because such an entity requires a document type
    /// declaration.
    private func replacingEntities(
        _ range: Range<Int>,
        isAttribute: Bool = false
    ) throws(DecodingFailure) -> String {
        guard bytes[range].contains(UInt8(ascii: "&")) else { return string(range, isAttribute: isAttribute) }
        var result = ""
        var rest = bytes[range]
        while let sign = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += string(rest.startIndex..<sign, isAttribute: isAttribute)
            guard let end = rest[sign...].firstIndex(of: UInt8(ascii: ";")),
                let character = Self.character(String(decoding: rest[(sign + 1)..<end], as: UTF8.self))
            else { throw malformed(at: sign) }
            result.append(character)
            rest = rest[(end + 1)...]
        }
        return result + string(rest.startIndex..<rest.endIndex, isAttribute: isAttribute)
    }

    /// The predefined entities, which need no declaration (section 4.6).
    private static let predefinedEntities: [String: Character] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
    ]

    private static func character(_ entity: String) -> Character? {
        if let character = predefinedEntities[entity] { return character }
        guard entity.hasPrefix("#") else { return nil }
        let digits = entity.dropFirst()
        let isSigned = digits.contains { $0 == "+" || $0 == "-" }
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard !isSigned, let number, let scalar = Unicode.Scalar(number), scalar.isXML else { return nil }
        return Character(scalar)
    }
}

extension Unicode.Scalar {
    /// Whether the character is allowed in XML (section 2.2).
    fileprivate var isXML: Bool {
        switch value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x1_0000...: true
        default: false
        }
    }
}

extension UInt8 {
    /// Whether the byte is whitespace (section 2.3).
    fileprivate var isSpaceOfXML: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }

    /// Whether the byte is allowed in a name.
    ///
    /// Non-ASCII bytes count as letters.
    fileprivate var isPartOfName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "-"),
            UInt8(ascii: "."), 0x80...0xFF:
            true
        default: false
        }
    }

    /// Whether the byte is allowed in a name, but not as its first byte.
    fileprivate var isForbiddenFirst: Bool {
        isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}
