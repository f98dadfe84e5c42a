/// A media type as in `Content-Type`, or a media range as in `Accept` (RFC 9110 sections 8.3.1 and 12.5.1).
///
/// Invalid values are parsed as in the WHATWG MIME Sniffing standard.
public struct MediaType: Sendable, Hashable {
    /// The type, such as `application`.
    ///
    /// `*` matches any type.
    public let type: String
    /// The subtype, such as `json`.
    ///
    /// `*` matches any subtype, and `*+json` any subtype with that suffix.
    public let subtype: String
    /// The character set in lower case, or `nil` if none is given.
    public let charset: String?

    /// Parses a field value, or returns `nil` if it contains no media type.
    public init?(_ text: String) {
        // Most responses have this exact value, and parsing it would be a considerable part of the cost of a small
        // response.
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

    /// Any media type: `*/*`.
    package static let any = MediaType(type: "*", subtype: "*")

    /// The media type of JSON: `application/json`.
    public static let json = MediaType(type: "application", subtype: "json")

    /// Whether a media type matches this media range.
    package func includes(_ other: MediaType) -> Bool {
        guard type == "*" || type == other.type else { return false }
        guard subtype != "*", subtype != other.subtype else { return true }
        return subtype.hasPrefix("*+") && other.subtype.hasSuffix(subtype.dropFirst())
    }

    /// Returns the media types in the value of an `Accept` field.
    package static func list(_ accept: String) -> [MediaType] {
        HeaderList.elements(of: accept, separatedBy: ",").compactMap { MediaType($0) }
    }

    /// Whether the value of an `Accept` field accepts the type.
    ///
    /// The most specific matching entry applies, and a weight of 0 excludes the type (RFC 9110 sections 12.4.2 and
    /// 12.5.1).
    package func isWanted(by accept: String) -> Bool {
        let entries = HeaderList.elements(of: accept, separatedBy: ",").compactMap { entry in
            MediaType(entry).map { (type: $0, isWanted: !Self.isExcluded(entry)) }
        }
        let fitting = entries.filter { $0.type.includes(self) }
        return fitting.max { $0.type.exactness < $1.type.exactness }?.isWanted ?? false
    }

    /// The number of parts of the media range that are not wildcards.
    private var exactness: Int { [type, subtype].count { !$0.hasPrefix("*") } }

    private static func isExcluded(_ entry: String) -> Bool {
        HeaderList.pieces(of: entry, separatedBy: ";").dropFirst().contains { parameter in
            let parts = parameter.lowercased().split(separator: "=").map { $0.filter { !$0.isWhitespace } }
            return parts.first == "q" && parts.count == 2 && Double(parts[1]) == 0
        }
    }
}

extension MediaType: CustomStringConvertible {
    /// The type and subtype.
    public var description: String { "\(type)/\(subtype)" }
}
