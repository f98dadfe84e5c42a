public import SwitchyardAPI
public import SwitchyardServices

/// An event of an XML text, such as the start of an element.
///
/// Events are in document order.
public enum XMLEvent: Sendable, Hashable {
    /// The start of an element, with its attributes in document order.
    case start(name: String, attributes: [Attribute])
    /// The end of an element.
    case end(name: String)
    /// Text between markup in which the entities have been replaced, or the text of a CDATA section.
    case text(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, text: String)

    /// An attribute of an element.
    public struct Attribute: Sendable, Hashable {
        /// The name with its namespace prefix.
        public var name: String
        /// The value, with its entities replaced.
        public var value: String

        /// Creates an attribute from its name and value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Returns the events of an XML text (XML 1.0, fifth edition).
    ///
    /// A document type declaration is an error, because its entities could refer to local files and expand without
    /// bounds.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8, optionally with a byte order mark.
    ///   - maximumDepth: The maximum nesting depth of elements, 128 by default.
    /// - Returns: The events in document order.
    /// - Throws: ``/SwitchyardAPI/DecodingFailure`` with the byte offset at which the text is not well-formed.
    public static func events(
        of text: some Sequence<UInt8>,
        maximumDepth: Int = JSONDepth.standard
    ) throws(DecodingFailure) -> [XMLEvent] {
        var reader = XMLReader(Array(text), maximumDepth: maximumDepth)
        return try reader.document()
    }
}
