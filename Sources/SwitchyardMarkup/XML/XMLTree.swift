public import SwitchyardAPI
public import SwitchyardServices

/// An element of XML with all that is in it, as a tree.
public struct XMLTree: Sendable, Hashable {
    /// What stands in an element.
    public enum Node: Sendable, Hashable {
        /// Another element.
        case element(XMLTree)
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
    public func elements(named name: String) -> [XMLTree] {
        children.compactMap { node in
            if case .element(let element) = node, element.name == name { element } else { nil }
        }
    }

    /// The first element in it of a name.
    public subscript(name: String) -> XMLTree? { elements(named: name).first }

    /// Builds the root of a document.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8; a byte order mark is allowed.
    ///   - maximumDepth: How deep elements may nest; `JSONDepth.ceiling` at most, since a tree that is far deeper
    ///     would overflow a thread's stack when it is let go.
    /// - Throws: ``/SwitchyardAPI/DecodingFailure``; also where two attributes of an element differ in nothing but the
    ///   Unicode form of their names.
    public init(parsing text: some Sequence<UInt8>, maximumDepth: Int = JSONDepth.standard) throws(DecodingFailure) {
        var open: [XMLTree] = [XMLTree(name: "")]
        for event in try XMLEvent.events(of: text, maximumDepth: min(maximumDepth, JSONDepth.ceiling)) {
            switch event {
            case .start(let name, let attributes):
                let values = Dictionary(attributes.map { ($0.name, $0.value) }) { first, _ in first }
                // Two names that look alike in other characters are one key here, and a value would be lost.
                guard values.count == attributes.count else {
                    throw DecodingFailure(.corrupted, keyPath: name, detail: "two attributes of one name")
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
