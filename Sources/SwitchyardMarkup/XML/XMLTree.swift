public import SwitchyardAPI
public import SwitchyardServices

/// An XML element with its contents, as a tree.
public struct XMLTree: Sendable, Hashable {
    /// A child of an element.
    public enum Node: Sendable, Hashable {
        /// A child element.
        case element(XMLTree)
        /// Text.
        case text(String)
    }

    /// The name with its namespace prefix.
    public var name: String
    /// The values of the attributes by their names.
    public var attributes: [String: String]
    /// The children in document order, without comments and processing instructions.
    public var children: [Node] = []

    /// Creates an element, by default without attributes and children.
    public init(name: String, attributes: [String: String] = [:], children: [Node] = []) {
        self.name = name
        self.attributes = attributes
        self.children = children
    }

    /// The text in the element and all of its descendants.
    public var text: String {
        children.map { node in
            switch node {
            case .text(let text): text
            case .element(let element): element.text
            }
        }.joined()
    }

    /// Returns the child elements with a name, in document order.
    public func elements(named name: String) -> [XMLTree] {
        children.compactMap { node in
            if case .element(let element) = node, element.name == name { element } else { nil }
        }
    }

    /// The first child element with a name, or `nil` if there is none.
    public subscript(name: String) -> XMLTree? { elements(named: name).first }

    /// Parses an XML document and creates its root element.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8, optionally with a byte order mark.
    ///   - maximumDepth: The maximum nesting depth of elements. It is limited to `JSONDepth.ceiling`, because releasing
    ///     a much deeper tree would overflow a thread's stack.
    /// - Throws: ``/SwitchyardAPI/DecodingFailure`` if the text is not well-formed, or if the names of two attributes
    ///   of an element differ only in their Unicode normalization.
    public init(parsing text: some Sequence<UInt8>, maximumDepth: Int = JSONDepth.standard) throws(DecodingFailure) {
        var open: [XMLTree] = [XMLTree(name: "")]
        for event in try XMLEvent.events(of: text, maximumDepth: min(maximumDepth, JSONDepth.ceiling)) {
            switch event {
            case .start(let name, let attributes):
                let values = Dictionary(attributes.map { ($0.name, $0.value) }) { first, _ in first }
                // Canonically equivalent names are the same key in a dictionary, so the value of one of the attributes
                // would be lost.
                guard values.count == attributes.count else {
                    throw DecodingFailure(.corrupted, keyPath: name, detail: "two attributes have the same name")
                }
                open.append(XMLTree(name: name, attributes: values))
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
