/// A media type as it stands in `Content-Type`, or a pattern of `Accept` (RFC 9110 section 8.3.1 and 12.5.1).
///
/// What cannot be right is read as the WHATWG's MIME sniffing standard does.
public struct MediaType: Sendable, Hashable {
    /// The type: `application`; `*` is any.
    public let type: String
    /// The subtype: `json`; `*` is any, `*+json` any with that suffix.
    public let subtype: String
    /// The character set, in lower case; `nil` when none is named.
    public let charset: String?

    /// Parses a header field's value; `nil` when it names no type.
    public init?(_ text: String) {
        // Nearly every answer says this, and parsing would be a good part of a small answer's cost.
        if text == "application/json" { self = .json } else { self.init(parsing: text) }
    }

    private init?(parsing text: String) {
        var parser = MediaTypeParser(text)
        guard let names = parser.names() else { return nil }
        type = names.type
        subtype = names.subtype
        charset = parser.charset()
    }

    package init(type: String, subtype: String) {
        self.type = type
        self.subtype = subtype
        charset = nil
    }

    /// Any type: `*/*`.
    package static let any = MediaType(type: "*", subtype: "*")

    /// JSON.
    public static let json = MediaType(type: "application", subtype: "json")

    /// Whether a type is one of those that this pattern names.
    public func includes(_ other: MediaType) -> Bool {
        guard type == "*" || type == other.type else { return false }
        guard subtype != "*", subtype != other.subtype else { return true }
        return subtype.hasPrefix("*+") && other.subtype.hasSuffix(subtype.dropFirst())
    }

    /// The types that a list of `Accept` names.
    package static func list(_ accept: String) -> [MediaType] {
        HeaderList.elements(of: accept, separatedBy: ",").compactMap { MediaType($0) }
    }

    /// Whether a list of `Accept` wants the type: the most exact entry for it counts, and a weight of 0 excludes
    /// (RFC 9110 sections 12.4.2 and 12.5.1).
    package func isWanted(by accept: String) -> Bool {
        let entries = HeaderList.elements(of: accept, separatedBy: ",").compactMap { entry in
            MediaType(entry).map { (type: $0, isWanted: !Self.isExcluded(entry)) }
        }
        let fitting = entries.filter { $0.type.includes(self) }
        return fitting.max { $0.type.exactness < $1.type.exactness }?.isWanted ?? false
    }

    /// How little of a pattern is left open.
    private var exactness: Int { [type, subtype].count { !$0.hasPrefix("*") } }

    private static func isExcluded(_ entry: String) -> Bool {
        HeaderList.pieces(of: entry, separatedBy: ";").dropFirst().contains { parameter in
            let parts = parameter.lowercased().split(separator: "=").map { $0.filter { !$0.isWhitespace } }
            return parts.first == "q" && parts.count == 2 && Double(parts[1]) == 0
        }
    }
}

extension MediaType: CustomStringConvertible {
    /// Type and subtype.
    public var description: String { "\(type)/\(subtype)" }
}
