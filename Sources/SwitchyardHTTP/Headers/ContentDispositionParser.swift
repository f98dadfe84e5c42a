import SwitchyardServices

/// A parser for `Content-Disposition` that accepts any value.
struct ContentDispositionParser {
    // Parse by scalars, because a combining mark after a separator would hide the separator in a `Character`.
    private var rest: Substring.UnicodeScalarView

    init(_ value: String) {
        rest = value.unicodeScalars[...]
    }

    mutating func parse() -> ContentDisposition {
        let type = until { $0 == ";" }.trimmed.lowercased()
        var parameters: [ContentDisposition.Parameter] = []
        var names: Set<String> = []
        while rest.first == ";" {
            rest.removeFirst()
            guard let parameter = parameter(), !parameter.name.isEmpty else { continue }
            if names.insert(parameter.name).inserted { parameters.append(parameter) }
        }
        return ContentDisposition(type: type, parameters: parameters)
    }

    /// Returns the next parameter, or `nil` if it has no equals sign or its quoted value is not closed.
    private mutating func parameter() -> ContentDisposition.Parameter? {
        let name = until { $0 == ";" || $0 == "=" }.trimmed.lowercased()
        guard rest.first == "=" else { return nil }
        rest.removeFirst()
        rest = rest.drop { $0 == " " || $0 == "\t" }
        guard rest.first == "\"" else {
            return ContentDisposition.Parameter(name: name, value: until { $0 == ";" }.trimmed, isQuoted: false)
        }
        guard let value = quoted() else { return nil }
        _ = until { $0 == ";" }
        return ContentDisposition.Parameter(name: name, value: value, isQuoted: true)
    }

    private mutating func until(_ isEnd: (Unicode.Scalar) -> Bool) -> Substring.UnicodeScalarView {
        let piece = rest.prefix { !isEnd($0) }
        rest = rest[piece.endIndex...]
        return piece
    }

    /// Returns the text between quotes without the backslashes, or `nil` if there is no closing quote.
    private mutating func quoted() -> String? {
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return String(value) }
            if scalar == "\\", let escaped = rest.popFirst() {
                value.append(escaped)
            } else {
                value.append(scalar)
            }
        }
        return nil
    }
}

/// Values in the extended form of RFC 8187: `UTF-8''%E2%82%AC%20rates`.
package enum ExtendedValue {
    /// Returns the decoded text, or `nil` if the character set is neither UTF-8 nor ISO 8859-1, or a percent escape is
    /// invalid.
    package static func decoded(_ value: String) -> String? {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let bytes = Array(parts[2])
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%") {
                guard PercentEncoding.isEscape(bytes, at: index), let high = PercentEncoding.value(bytes[index + 1]),
                    let low = PercentEncoding.value(bytes[index + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        switch Substring(parts[0]).lowercased() {
        // `utf8` is a common misspelling of `utf-8`.
        case "utf-8", "utf8": return String(validUTF8: decoded)
        case "iso-8859-1": return String(String.UnicodeScalarView(decoded.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    /// The characters that are not percent-encoded (RFC 8187 section 3.2.1).
    private static let plain = URLCharacters(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`|~"
    )

    /// Returns the text in the extended form: in UTF-8, with every character outside `plain` percent-encoded.
    package static func encoded(_ text: String) -> String {
        var output: [UInt8] = []
        PercentEncoding.append(Array(text.utf8), allowed: plain, to: &output)
        return "UTF-8''\(String(decoding: output, as: UTF8.self))"
    }
}

enum ContentDispositionWriter {
    /// Returns the parameters for a file name: the plain form, and the extended form if the plain form does not
    /// represent the name exactly.
    static func parameters(
        of fileName: String,
        fallback: ContentDisposition.Fallback
    ) -> [ContentDisposition.Parameter] {
        let extended = ContentDisposition.Parameter(
            name: "filename*",
            value: ExtendedValue.encoded(fileName),
            isQuoted: false
        )
        let plain: String? =
            switch fallback {
            case .replaced: printable(fileName)
            case .none: isPlain(fileName) ? fileName : nil
            case .name(let other): printable(other)
            }
        guard let plain else { return [extended] }
        let parameter = ContentDisposition.Parameter(
            name: "filename",
            value: plain,
            isQuoted: !HTTPToken.isValid(plain)
        )
        return plain == fileName && isPlain(fileName) ? [parameter] : [parameter, extended]
    }

    /// Whether the plain form is unambiguous: printable ASCII without anything that looks like a percent escape.
    private static func isPlain(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.allSatisfy { $0 >= 32 && $0 < 127 }
            && !bytes.indices.contains { PercentEncoding.isEscape(bytes, at: $0) }
    }

    private static func printable(_ name: String) -> String {
        String(name.map { $0.isASCII && $0.asciiValue.map { $0 >= 32 && $0 < 127 } ?? false ? $0 : "?" })
    }
}
