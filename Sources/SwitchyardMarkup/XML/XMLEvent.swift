public import SwitchyardAPI
public import SwitchyardServices

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
    ///   - maximumDepth: How deep elements may nest; ``/SwitchyardServices/JSONDepth/standard`` unless given.
    /// - Returns: The events.
    /// - Throws: ``/SwitchyardAPI/DecodingFailure`` with the offset of the byte at which the text stops being XML.
    public static func events(
        of text: some Sequence<UInt8>,
        maximumDepth: Int = JSONDepth.standard
    ) throws(DecodingFailure) -> [XMLEvent] {
        var reader = XMLReader(Array(text), maximumDepth: maximumDepth)
        return try reader.document()
    }
}
