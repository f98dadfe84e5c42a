/// A parser for the subset of YAML 1.2 that OpenAPI documents use.
///
/// The result is a tree of ``Node`` values.
///
/// The parser supports block and flow collections, all five styles of scalars, comments, anchors and aliases, and the
/// tags of the core schema. It rejects merge keys, keys that are not scalars, other tags, and a second document in the
/// file.
struct YAMLReader {
    var cursor: TextCursor
    let limits: ReadingLimits
    private var depth = 0
    private var anchors: [String: Node] = [:]
    private var aliasedNodes = 0
    /// The indentation of the block that contains the flow collection that is being parsed, or -1 at the top level.
    var flowIndent = -1

    /// The anchor and tag before a node.
    struct Properties {
        var anchor: String?
        var tag: String?
        var isEmpty: Bool { anchor == nil && tag == nil }
    }

    init(_ bytes: ContiguousArray<UInt8>, limits: ReadingLimits = ReadingLimits()) {
        cursor = TextCursor(bytes)
        self.limits = limits
    }

    /// Parses the complete text.
    ///
    /// - Throws: ``ReadingError`` with the position at which the text is not valid YAML or uses an unsupported feature.
    mutating func document() throws(ReadingError) -> Node {
        try directives()
        let line = cursor.line
        let hasMarker = isMarker("---")
        if hasMarker {
            cursor.advance(3)
            skipBlanks()
            try skipToContent()
        }
        guard !cursor.isAtEnd else { return Node(.null, at: cursor.position) }
        // A block collection must start on a line of its own.
        let isOnMarkerLine = hasMarker && cursor.line == line
        let node = isOnMarkerLine ? try inlineNode(parent: -1) : try blockNode(parent: -1)
        try skipToContent()
        if isMarker("...") {
            cursor.advance(3)
            try skipToContent()
        }
        if isMarker("---") { throw error("a second document in one file is not supported") }
        guard cursor.isAtEnd else { throw error("expected the end of the document; check the indentation") }
        return node
    }

    /// Parses the directives before the document, such as `%YAML 1.2`.
    private mutating func directives() throws(ReadingError) {
        try skipToContent()
        var names: Set<String> = []
        while cursor.indent == 0, cursor.next == UInt8(ascii: "%") {
            let position = cursor.position
            let start = cursor.offset
            skipLine()
            let words = (cursor.text(from: start) ?? "").split { $0 == " " || $0 == "\t" }.prefix { !$0.hasPrefix("#") }
            let isVersion = words.first == "%YAML"
            guard !isVersion || (words.count == 2 && words[1].allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") })
            else {
                throw ReadingError("the directive is invalid: must be \"%YAML 1.2\"", at: position)
            }
            guard !isVersion || names.insert("%YAML").inserted else {
                throw ReadingError("the directive %YAML occurs twice", at: position)
            }
            try skipToContent()
            let isLast = cursor.indent != 0 || cursor.next != UInt8(ascii: "%")
            if isLast, !isMarker("---") { throw error("expected \"---\" after a directive") }
        }
    }

    func error(_ message: String) -> ReadingError { ReadingError(message, at: cursor.position) }

    // MARK: - White space

    mutating func skipBlanks() {
        while cursor.next.isBlank { cursor.advance() }
    }

    mutating func skipLine() {
        while !cursor.isAtEnd, !cursor.next.isLineEnd { cursor.advance() }
    }

    /// Returns whether a marker such as `---` is at the start of this line.
    func isMarker(_ text: StaticString) -> Bool {
        guard cursor.indent == 0, cursor.starts(with: text) else { return false }
        let after = cursor.peek(3)
        return cursor.offset + 3 >= cursor.bytes.count || after.isBlank || after.isLineEnd
    }

    /// Whether the rest of the line has no content.
    var isLineDone: Bool {
        cursor.isAtEnd || cursor.next.isLineEnd
            || (cursor.next == UInt8(ascii: "#") && (cursor.indent == 0 || cursor.bytes[cursor.offset - 1].isBlank))
    }

    /// Advances to the next content, past blank lines and comments.
    mutating func skipToContent() throws(ReadingError) {
        while true {
            let start = cursor.indent == 0
            let first = cursor.offset
            skipBlanks()
            if isLineDone {
                skipLine()
                if cursor.isAtEnd { return }
                cursor.advance()
                continue
            }
            if start, cursor.bytes[first..<cursor.offset].contains(.tab) {
                throw error("a tab must not be used for indentation")
            }
            return
        }
    }

    /// Advances past the rest of the line.
    ///
    /// Throws an error if the rest contains anything other than white space and a comment.
    mutating func endLine() throws(ReadingError) {
        skipBlanks()
        guard isLineDone else { throw error("expected the end of the line") }
    }

    // MARK: - Nodes

    mutating func enter() throws(ReadingError) {
        guard depth < limits.depth else { throw error("nesting is deeper than \(limits.depth) levels") }
        depth += 1
    }

    mutating func leave() { depth -= 1 }

    /// Returns whether the next byte is this indicator, followed by white space or the end of the line.
    func isIndicator(_ byte: UInt8) -> Bool {
        guard cursor.next == byte else { return false }
        let after = cursor.peek(1)
        return cursor.offset + 1 >= cursor.bytes.count || after.isBlank || after.isLineEnd
    }

    /// Parses a node that starts at the next character and has more indentation than its parent.
    mutating func blockNode(parent: Int) throws(ReadingError) -> Node {
        try enter()
        defer { leave() }
        let indent = cursor.indent
        let position = cursor.position
        if isIndicator(UInt8(ascii: "-")) { return Node(.list(try sequence(at: indent)), at: position) }
        if isIndicator(UInt8(ascii: "?")) || isKeyAhead() { return Node(.map(try mapping(at: indent)), at: position) }
        return try inlineNode(parent: parent)
    }

    /// Parses a node that starts on this line and is not a block mapping on this line.
    mutating func inlineNode(parent: Int) throws(ReadingError) -> Node {
        let position = cursor.position
        let properties = try properties()
        if !properties.isEmpty {
            let node = try propertiedNode(properties, parent: parent, position)
            if let anchor = properties.anchor { anchors[anchor] = node }
            return node
        }
        switch cursor.next {
        case UInt8(ascii: "*"): return try alias()
        case UInt8(ascii: "|"), UInt8(ascii: ">"): return Node(.string(try blockScalar(parent: parent)), at: position)
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            flowIndent = parent
            let node = try flowNode()
            try endLine()
            return node
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            let text = try quoted(parent: parent)
            try endLine()
            return Node(.string(text), at: position)
        default:
            return Node(try plain(parent: parent), at: position)
        }
    }

    private mutating func propertiedNode(
        _ properties: Properties,
        parent: Int,
        _ position: Position
    ) throws(ReadingError) -> Node {
        skipBlanks()
        try refuseAlias()
        var node = Node(.null, at: position)
        if isLineDone {
            try skipToContent()
            let isSequence = isIndicator(UInt8(ascii: "-"))
            if !cursor.isAtEnd, cursor.indent > parent || (isSequence && cursor.indent == parent), !isMarker("---") {
                node = try blockNode(parent: parent)
            }
        } else {
            node = try inlineNode(parent: parent)
        }
        return try tagged(node, properties.tag, at: position)
    }

    /// Parses the anchor and tag before a node.
    mutating func properties() throws(ReadingError) -> Properties {
        var properties = Properties()
        while cursor.next == UInt8(ascii: "&") || cursor.next == UInt8(ascii: "!") {
            let isAnchor = cursor.next == UInt8(ascii: "&")
            guard isAnchor ? properties.anchor == nil : properties.tag == nil else {
                throw error("a node must have at most one anchor and one tag")
            }
            let word = try word()
            if isAnchor { properties.anchor = String(word.dropFirst()) } else { properties.tag = word }
            skipBlanks()
        }
        return properties
    }

    /// Returns the characters up to a space, the end of the line or an indicator of a flow collection.
    private mutating func word() throws(ReadingError) -> String {
        let start = cursor.offset
        while !cursor.isAtEnd, !cursor.next.isBlank, !cursor.next.isLineEnd, !",[]{}".utf8.contains(cursor.next) {
            cursor.advance()
        }
        guard let word = cursor.text(from: start), word.count > 1 else { throw error("expected a name") }
        return word
    }

    /// Throws an error if an alias follows an anchor or a tag.
    func refuseAlias() throws(ReadingError) {
        if cursor.next == UInt8(ascii: "*") { throw error("an alias must not have an anchor or a tag") }
    }

    mutating func alias() throws(ReadingError) -> Node {
        let position = cursor.position
        let name = String(try word().dropFirst())
        guard let node = anchors[name] else { throw ReadingError("the anchor \"\(name)\" is undefined", at: position) }
        aliasedNodes = aliasedNodes.addingClamped(node.weight)
        guard aliasedNodes <= limits.aliasedNodes else {
            throw ReadingError("aliases expand to more than \(limits.aliasedNodes) nodes", at: position)
        }
        return node
    }

    mutating func note(_ node: Node, as anchor: String?) {
        if let anchor { anchors[anchor] = node }
    }

    /// Returns the node converted to the type that its tag names.
    func tagged(_ node: Node, _ tag: String?, at position: Position) throws(ReadingError) -> Node {
        switch tag {
        case nil, "!!map", "!!seq": return node
        case "!!str", "!":
            guard let text = node.scalarText else { return node }
            return Node(.string(node.isNull ? "" : text), at: node.position)
        case "!!int", "!!float", "!!bool", "!!null":
            guard let text = node.scalarText else { return node }
            return Node(YAMLScalar.value(of: text), at: node.position)
        case let other?: throw ReadingError("the tag \(other) is not supported", at: position)
        }
    }
}
