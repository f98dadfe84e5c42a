/// A URL or path with placeholders: `users/{id}/posts{?page,size}` (RFC 6570, all levels).
///
/// Values are typed parameters. They are percent-encoded for their place in the URL, so an identifier such as `a/b?c`
/// remains one path segment.
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
package struct URLTemplate: Sendable, Hashable, CustomStringConvertible {
    /// The treatment of a variable without a value.
    package enum MissingValues: Sendable, Hashable {
        /// A missing value in the path is an error. In `{?...}`, `{&...}`, `{;...}` and `{#...}` the variable is
        /// omitted. This is the default.
        ///
        /// A value that makes a path segment empty, `.` or `..` is also an error, because the URL would lead elsewhere.
        /// The exception is a value of `{+...}` that contains slashes, because such a value is itself a path.
        case refusedInPath
        /// The variable is omitted everywhere, as RFC 6570 specifies.
        case leftOut
    }

    /// The text of the template.
    package let text: String
    let parts: [Part]

    /// Parses a template.
    ///
    /// - Parameter text: The template.
    /// - Throws: ``RequestError/template(text:reason:)`` with the position of the syntax error.
    package init(_ text: String) throws(RequestError) {
        self.text = text
        var parser = URLTemplateParser(text)
        parts = try parser.parse()
    }

    /// The names of the variables, in order of their first use.
    package var variables: [String] {
        var names: [String] = []
        for case .expression(_, let variables) in parts {
            for variable in variables where !names.contains(variable.name) { names.append(variable.name) }
        }
        return names
    }

    /// Returns the template with values in place of its variables.
    ///
    /// - Parameters:
    ///   - values: The values by the names of the variables. Additional values are ignored.
    ///   - missing: The treatment of a variable without a value: its value is absent, `null` or an empty list.
    /// - Returns: The text, percent-encoded.
    /// - Throws: ``RequestError/template(text:reason:)`` if a value is missing or is not allowed in its place.
    package func expanded(
        with values: Parameters,
        missing: MissingValues = .refusedInPath
    ) throws(RequestError) -> String {
        var expander = URLTemplateExpander(template: self, values: values, missing: missing)
        return try expander.expand()
    }

    /// The text of the template.
    package var description: String { text }

    // MARK: - Parts

    enum Part: Sendable, Hashable {
        case literal([UInt8])
        case expression(Operator, [Variable])
    }

    struct Variable: Sendable, Hashable {
        var name: String
        /// The maximum number of characters of the value, or `nil` for all.
        var prefix: Int?
        /// Whether the elements of lists and dictionaries are expanded separately (`*`).
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

        /// The text before the first value.
        var first: String {
            switch self {
            case .simple, .reserved: ""
            default: String(UnicodeScalar(rawValue))
            }
        }

        /// The text between values.
        var separator: String {
            switch self {
            case .simple, .reserved, .fragment: ","
            case .label: "."
            case .path: "/"
            case .matrix: ";"
            case .query, .continuation: "&"
            }
        }

        /// Whether values are written with the names of their variables.
        var isNamed: Bool { self == .matrix || self == .query || self == .continuation }
        /// Whether reserved characters and percent escapes are kept.
        var allowsReserved: Bool { self == .reserved || self == .fragment }
        /// Returns the first characters of a value.
        ///
        /// If percent escapes are kept, the escapes of one character count as one and are not split (RFC 6570 section
        /// 2.4.1).
        func beginning(_ count: Int, of text: String) -> String {
            guard allowsReserved else { return String(text.unicodeScalars.prefix(count)) }
            let bytes = Array(text.utf8)
            var end = 0
            for _ in 0..<count where end < bytes.count {
                repeat { end += PercentEncoding.isEscape(bytes, at: end) ? 3 : 1 } while Self.goesOn(bytes, at: end)
            }
            return String(decoding: bytes[..<end], as: UTF8.self)
        }

        /// Whether a byte, escaped or not, continues the character before it (RFC 3629 section 3).
        private static func goesOn(_ bytes: [UInt8], at index: Int) -> Bool {
            guard index < bytes.count else { return false }
            guard PercentEncoding.isEscape(bytes, at: index) else { return bytes[index] & 0xC0 == 0x80 }
            return (PercentEncoding.value(bytes[index + 1]) ?? 0) & 0xC == 8
        }

        /// Whether a missing value would leave a gap in the path.
        var needsValue: Bool { self == .simple || self == .reserved || self == .label || self == .path }
    }
}
