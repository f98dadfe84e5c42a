/// A URL or path with placeholders: `users/{id}/posts{?page,size}` (RFC 6570, all levels).
///
/// Values are typed parameters and are percent-encoded for the place where they stand, so that an identifier such as
/// `a/b?c` stays one path segment.
///
/// | expression | values | result |
/// |---|---|---|
/// | `{id}` | `a/b` | `a%2Fb` |
/// | `{+path}` | `a/b` | `a/b` |
/// | `{/list*}` | `["a", "b"]` | `/a/b` |
/// | `{?page,size}` | 2, 20 | `?page=2&size=20` |
/// | `{&page}` | 2 | `&page=2` |
/// | `{;id}` | 7 | `;id=7` |
/// | `{name:3}` | `value` | `val` |
public struct URLTemplate: Sendable, Hashable, CustomStringConvertible {
    /// What is done about a variable without a value.
    public enum MissingValues: Sendable, Hashable {
        /// It is an error where it would leave a hole in the path, and left out of `{?...}`, `{&...}`, `{;...}` and
        /// `{#...}`; the default. Values that leave a segment of the path empty, or make it `.` or `..`, which would
        /// lead elsewhere, are an error there too; not so a value of `{+...}` with slashes of its own, which is a path.
        case refusedInPath
        /// It is left out everywhere, as RFC 6570 says.
        case leftOut
    }

    /// The template as it was given.
    public let text: String
    let parts: [Part]

    /// Parses a template.
    ///
    /// - Parameter text: The template.
    /// - Throws: ``RequestError/template(text:reason:)`` with the place where it breaks the grammar.
    public init(_ text: String) throws(RequestError) {
        self.text = text
        var parser = URLTemplateParser(text)
        parts = try parser.parse()
    }

    /// The names of the variables, in order of their first use.
    public var variables: [String] {
        var names: [String] = []
        for case .expression(_, let variables) in parts {
            for variable in variables where !names.contains(variable.name) { names.append(variable.name) }
        }
        return names
    }

    /// Puts values in.
    ///
    /// - Parameters:
    ///   - values: The values by the names of the variables; further ones are ignored.
    ///   - missing: What is done about a variable without a value (not there, `null`, or an empty list).
    /// - Returns: The text, percent-encoded.
    /// - Throws: ``RequestError/template(text:reason:)`` when a value is missing, or cannot stand where it is used.
    public func expanded(
        with values: Parameters,
        missing: MissingValues = .refusedInPath
    ) throws(RequestError) -> String {
        var expander = URLTemplateExpander(template: self, values: values, missing: missing)
        return try expander.expand()
    }

    /// The template as it was given.
    public var description: String { text }

    // MARK: - Parts

    enum Part: Sendable, Hashable {
        case literal([UInt8])
        case expression(Operator, [Variable])
    }

    struct Variable: Sendable, Hashable {
        var name: String
        /// The number of characters to take; `nil` for all.
        var prefix: Int?
        /// Whether lists and named values are taken apart (`*`).
        var explodes: Bool
    }

    enum Operator: UInt8, Sendable, Hashable {
        case simple = 0
        case reserved = 0x2B
        case fragment = 0x23
        case label = 0x2E
        case path = 0x2F
        case matrix = 0x3B
        case query = 0x3F
        case continuation = 0x26

        /// What stands in front of the first value.
        var first: String {
            switch self {
            case .simple, .reserved: ""
            default: String(UnicodeScalar(rawValue))
            }
        }

        /// What stands between values.
        var separator: String {
            switch self {
            case .simple, .reserved, .fragment: ","
            case .label: "."
            case .path: "/"
            case .matrix: ";"
            case .query, .continuation: "&"
            }
        }

        /// Whether values carry their names.
        var isNamed: Bool { self == .matrix || self == .query || self == .continuation }
        /// Whether reserved characters and escapes stay as they are.
        var allowsReserved: Bool { self == .reserved || self == .fragment }
        /// The first characters of a value.
        ///
        /// Where escapes stay, those of one character are one, which is not taken apart (RFC 6570 section 2.4.1).
        func beginning(_ count: Int, of text: String) -> String {
            guard allowsReserved else { return String(text.unicodeScalars.prefix(count)) }
            let bytes = Array(text.utf8)
            var end = 0
            for _ in 0..<count where end < bytes.count {
                repeat { end += PercentEncoding.isEscape(bytes, at: end) ? 3 : 1 } while Self.goesOn(bytes, at: end)
            }
            return String(decoding: bytes[..<end], as: UTF8.self)
        }

        /// Whether a byte, escaped or not, belongs to the character before it (RFC 3629 section 3).
        private static func goesOn(_ bytes: [UInt8], at index: Int) -> Bool {
            guard index < bytes.count else { return false }
            guard PercentEncoding.isEscape(bytes, at: index) else { return bytes[index] & 0xC0 == 0x80 }
            return (PercentEncoding.value(bytes[index + 1]) ?? 0) & 0xC == 8
        }

        /// Whether a missing value would leave a hole.
        var needsValue: Bool { self == .simple || self == .reserved || self == .label || self == .path }
    }
}
