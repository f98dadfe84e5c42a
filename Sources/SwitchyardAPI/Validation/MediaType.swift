/// A media type as it stands in `Content-Type`, or a pattern of `Accept` (RFC 9110 section 8.3.1 and 12.5.1).
public struct MediaType: Sendable, Hashable {
    /// The type: `application`; `*` is any.
    public let type: String
    /// The subtype: `json`; `*` is any, `*+json` any with that suffix.
    public let subtype: String
    /// The character set, in lower case; `nil` when none is named.
    public let charset: String?

    /// Parses a header field's value; `nil` when it names no type.
    public init?(_ text: String) {
        if let usual = Self.usual(text) {
            self = usual
            return
        }
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        let names = parts[0].trimmed.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty && !$0.contains(where: \.isWhitespace) }) else {
            return nil
        }
        type = String(names[0])
        subtype = String(names[1])
        charset = parts.dropFirst().lazy.compactMap { Self.charset(of: $0) }.first
    }

    init(type: String, subtype: String, charset: String? = nil) {
        self.type = type
        self.subtype = subtype
        self.charset = charset
    }

    /// What nearly every answer of an API carries, known without parsing.
    private static func usual(_ text: String) -> MediaType? {
        switch text {
        case "application/json": json
        case "application/json; charset=utf-8", "application/json;charset=utf-8", "application/json; charset=UTF-8",
            "application/json;charset=UTF-8":
            jsonInUTF8
        default: nil
        }
    }

    private static let jsonInUTF8 = MediaType(type: "application", subtype: "json", charset: "utf-8")

    /// JSON.
    public static let json = MediaType(type: "application", subtype: "json")

    /// Whether a type is one of those that this pattern names.
    public func includes(_ other: MediaType) -> Bool {
        guard type == "*" || type == other.type else { return false }
        guard subtype != "*", subtype != other.subtype else { return true }
        return subtype.hasPrefix("*+") && other.subtype.hasSuffix(subtype.dropFirst())
    }

    /// The types that a list of `Accept` names.
    static func list(_ accept: String) -> [MediaType] {
        accept.split(separator: ",").compactMap { MediaType(String($0)) }
    }

    private static func charset(of parameter: Substring) -> String? {
        let parts = parameter.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0].trimmed.lowercased() == "charset" else { return nil }
        let value = parts[1].trimmed.filter { $0 != "\"" && $0 != "'" }.lowercased()
        return value.isEmpty ? nil : value
    }
}

extension MediaType: CustomStringConvertible {
    /// Type and subtype.
    public var description: String { "\(type)/\(subtype)" }
}

extension Substring {
    /// The text without spaces around it.
    fileprivate var trimmed: String {
        var text = self
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
