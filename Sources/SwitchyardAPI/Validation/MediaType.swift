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
        // Nearly every answer says this, and parsing would be a good part of a small answer's cost.
        if text == "application/json" { self = .json } else { self.init(parsing: text) }
    }

    private init?(parsing text: String) {
        var parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let first = parts.popFirst()?.trimmed, let slash = first.firstIndex(of: UInt8(ascii: "/")) else {
            return nil
        }
        let names = [first[..<slash], first[first.index(after: slash)...]]
        guard names.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isPartOfMediaType) }) else { return nil }
        type = String(Substring(names[0])).lowercased()
        subtype = String(Substring(names[1])).lowercased()
        charset = parts.lazy.compactMap { Self.charset(of: $0) }.first
    }

    init(type: String, subtype: String) {
        self.type = type
        self.subtype = subtype
        charset = nil
    }

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

    private static func charset(of parameter: Substring.UTF8View) -> String? {
        guard let sign = parameter.firstIndex(of: UInt8(ascii: "=")),
            String(Substring(parameter[..<sign].trimmed)).lowercased() == "charset"
        else { return nil }
        let quotes: Set<UInt8> = [UInt8(ascii: "\""), UInt8(ascii: "'")]
        let value = parameter[parameter.index(after: sign)...].trimmed.filter { !quotes.contains($0) }
        return value.isEmpty ? nil : String(decoding: value, as: UTF8.self).lowercased()
    }
}

extension MediaType: CustomStringConvertible {
    /// Type and subtype.
    public var description: String { "\(type)/\(subtype)" }
}

extension Substring.UTF8View {
    /// The text without spaces around it.
    fileprivate var trimmed: Substring.UTF8View {
        var text = self
        while let first = text.first, first == 0x20 || first == 0x09 { text = text.dropFirst() }
        while let last = text.last, last == 0x20 || last == 0x09 { text = text.dropLast() }
        return text
    }
}

extension UInt8 {
    /// Whether it may stand in a type or subtype, as far as it matters here: no space, no second slash.
    fileprivate var isPartOfMediaType: Bool { self > 0x20 && self < 0x7F && self != UInt8(ascii: "/") }
}
