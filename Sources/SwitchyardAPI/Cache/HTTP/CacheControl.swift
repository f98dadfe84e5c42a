import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The directives of `Cache-Control` (RFC 9111 section 5.2).
struct CacheControl: Sendable {
    private let directives: [String: String?]

    /// Parses the lines of the `Cache-Control` field.
    ///
    /// Names are in lower case. If a directive is repeated, the first one wins.
    init(_ headers: HTTPHeaders) {
        var directives: [String: String?] = [:]
        for line in headers.values(of: "Cache-Control") {
            // Unicode scalars are used instead of characters, because a combining mark would merge with a comma or a
            // quote before it.
            var rest = line.unicodeScalars[...]
            while let (name, value) = Self.directive(&rest) {
                if directives[name] == nil { directives.updateValue(value, forKey: name) }
            }
        }
        self.directives = directives
    }

    /// Returns whether a directive is present.
    func has(_ name: String) -> Bool { directives[name] != nil }

    /// Returns whether a directive is present with a value.
    func hasValue(_ name: String) -> Bool { (directives[name] ?? nil) != nil }

    /// Returns the value of a directive in seconds.
    ///
    /// The result is `nil` if the directive is missing, and zero if its value is not a number.
    ///
    /// A number above 2^31 counts as 2^31 (RFC 9111 section 1.2.2).
    func seconds(_ name: String) -> Double? {
        guard let value = directives[name] else { return nil }
        guard let value, !value.isEmpty, value.utf8.allSatisfy(\.isDigit) else { return 0 }
        return min(Double(value) ?? 0, 2_147_483_648)
    }

    /// Reads and returns the next directive.
    ///
    /// A quoted value is returned without its quotes.
    private static func directive(_ rest: inout Substring.UnicodeScalarView) -> (String, String?)? {
        rest = rest.drop { $0 == "," || $0.properties.isWhitespace }
        guard !rest.isEmpty else { return nil }
        let name = rest.prefix { $0 != "=" && $0 != "," }
        rest = rest[name.endIndex...]
        var value: String?
        if rest.first == "=" {
            rest = rest.dropFirst().drop { $0.properties.isWhitespace }
            value = rest.first == "\"" ? quoted(&rest) : plain(&rest)
        }
        rest = rest.drop { $0 != "," }
        return (name.trimmed.lowercased(), value)
    }

    private static func plain(_ rest: inout Substring.UnicodeScalarView) -> String {
        let value = rest.prefix { $0 != "," }
        rest = rest[value.endIndex...]
        return value.trimmed
    }

    /// Reads a quoted string.
    ///
    /// A backslash in it escapes the next character (RFC 9110 section 5.6.4).
    private static func quoted(_ rest: inout Substring.UnicodeScalarView) -> String {
        rest = rest.dropFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            value.append(scalar == "\\" ? rest.popFirst() ?? scalar : scalar)
        }
        return String(value)
    }
}
