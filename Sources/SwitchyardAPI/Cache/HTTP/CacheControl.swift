import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The directives of `Cache-Control` (RFC 9111 section 5.2).
struct CacheControl: Sendable {
    private let directives: [String: String?]

    /// Reads the lines of the field; names in lower case, of a directive that stands twice the first holds.
    init(_ headers: HTTPHeaders) {
        var directives: [String: String?] = [:]
        for line in headers.values(of: "Cache-Control") {
            var rest = line[...]
            while let (name, value) = Self.directive(&rest) {
                if directives[name] == nil { directives.updateValue(value, forKey: name) }
            }
        }
        self.directives = directives
    }

    /// Whether a directive is there.
    func has(_ name: String) -> Bool { directives[name] != nil }

    /// Whether a directive has a value.
    func hasValue(_ name: String) -> Bool { (directives[name] ?? nil) != nil }

    /// The seconds of a directive; `nil` when it is not there, zero when its value is no number.
    ///
    /// A number beyond what 31 bits hold stands for as long as that (RFC 9111 section 1.2.2).
    func seconds(_ name: String) -> Double? {
        guard let value = directives[name] else { return nil }
        guard let value, !value.isEmpty, value.utf8.allSatisfy(\.isDigit) else { return 0 }
        return min(Double(value) ?? 0, 2_147_483_648)
    }

    /// Takes the next directive off the front, quoted values without their quotes.
    private static func directive(_ rest: inout Substring) -> (String, String?)? {
        rest = rest.drop { $0 == "," || $0.isWhitespace }
        guard !rest.isEmpty else { return nil }
        let name = rest.prefix { $0 != "=" && $0 != "," }
        rest = rest.dropFirst(name.count)
        var value: String?
        if rest.first == "=" {
            rest = rest.dropFirst().drop { $0.isWhitespace }
            value = rest.first == "\"" ? quoted(&rest) : plain(&rest)
        }
        rest = rest.drop { $0 != "," }
        return (trimmed(name).lowercased(), value)
    }

    private static func plain(_ rest: inout Substring) -> String {
        let value = rest.prefix { $0 != "," }
        rest = rest.dropFirst(value.count)
        return trimmed(value)
    }

    /// A quoted string; a backslash stands before a character that is meant as it is (RFC 9110 section 5.6.4).
    private static func quoted(_ rest: inout Substring) -> String {
        rest = rest.dropFirst()
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
            value.append(character == "\\" ? rest.popFirst() ?? character : character)
        }
        return value
    }

    private static func trimmed(_ text: Substring) -> String {
        guard let end = text.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(text[...end].drop { $0.isWhitespace })
    }
}
