/// What a text of XML consists of, in its order.
public enum XMLEvent: Sendable, Hashable {
    /// The beginning of an element; the attributes in the order of the text.
    case start(name: String, attributes: [Attribute])
    /// The end of an element.
    case end(name: String)
    /// Text between markup, entities replaced; that of a CDATA section too.
    case text(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, text: String)

    /// An attribute of an element.
    public struct Attribute: Sendable, Hashable {
        /// The name, with its prefix.
        public var name: String
        /// The value, entities replaced.
        public var value: String

        /// Creates an attribute.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The events of a text (XML 1.0, fifth edition).
    ///
    /// A document type is refused: it could name files of this machine, and grow without bounds.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8; a byte order mark is allowed.
    ///   - maximumDepth: How deep elements may nest.
    /// - Returns: The events.
    /// - Throws: ``DecodingFailure`` with the offset of the byte at which the text stops being XML.
    public static func events(
        of text: some Sequence<UInt8>,
        maximumDepth: Int = JSONDepth.standard
    ) throws(DecodingFailure) -> [XMLEvent] {
        var reader = XMLReader(Array(text), maximumDepth: maximumDepth)
        return try reader.document()
    }
}

/// An element of XML with all that is in it.
public struct XMLElement: Sendable, Hashable {
    /// What stands in an element.
    public enum Node: Sendable, Hashable {
        /// Another element.
        case element(XMLElement)
        /// Text.
        case text(String)
    }

    /// The name, with its prefix.
    public var name: String
    /// The values of the attributes by name.
    public var attributes: [String: String]
    /// What stands in it, in its order; comments and instructions left out.
    public var children: [Node] = []

    /// Creates an element.
    public init(name: String, attributes: [String: String] = [:], children: [Node] = []) {
        self.name = name
        self.attributes = attributes
        self.children = children
    }

    /// The text in it and in the elements in it.
    public var text: String {
        children.map { node in
            switch node {
            case .text(let text): text
            case .element(let element): element.text
            }
        }.joined()
    }

    /// The elements in it of a name.
    public func elements(named name: String) -> [XMLElement] {
        children.compactMap { node in
            if case .element(let element) = node, element.name == name { element } else { nil }
        }
    }

    /// The first element in it of a name.
    public subscript(name: String) -> XMLElement? { elements(named: name).first }

    /// Builds the root of a document.
    ///
    /// - Throws: ``DecodingFailure``.
    public init(parsing text: some Sequence<UInt8>, maximumDepth: Int = JSONDepth.standard) throws(DecodingFailure) {
        var open: [XMLElement] = [XMLElement(name: "")]
        for event in try XMLEvent.events(of: text, maximumDepth: maximumDepth) {
            switch event {
            case .start(let name, let attributes):
                let values = Dictionary(attributes.map { ($0.name, $0.value) }) { first, _ in first }
                open.append(XMLElement(name: name, attributes: values))
            case .end:
                guard let done = open.popLast(), !open.isEmpty else { throw DecodingFailure(.malformed(offset: nil)) }
                open[open.count - 1].children.append(.element(done))
            case .text(let text): open[open.count - 1].children.append(.text(text))
            case .comment, .instruction: break
            }
        }
        guard
            case .element(let root)? = open.first?.children.first(where: {
                if case .element = $0 { true } else { false }
            })
        else { throw DecodingFailure(.malformed(offset: nil)) }
        self = root
    }
}
