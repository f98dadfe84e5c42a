/// A parser that reads a media type in one pass (mimesniff.spec.whatwg.org, section 4.4).
struct MediaTypeParser {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8.trimmed
    }

    /// Parses the type and subtype in lower case, or returns `nil` if they are missing or invalid.
    mutating func names() -> (type: String, subtype: String)? {
        let type = take(until: UInt8(ascii: "/"))
        guard rest.popFirst() != nil, type.isToken else { return nil }
        let subtype = take(until: UInt8(ascii: ";")).trimmedAtEnd
        guard subtype.isToken else { return nil }
        return (type.lowercased, subtype.lowercased)
    }

    /// Parses the value of the first `charset` parameter in lower case, or returns `nil` if it is missing or empty.
    mutating func charset() -> String? {
        while rest.popFirst() != nil {
            rest = rest.trimmedAtStart
            let name = rest.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
            rest = rest.dropFirst(name.count)
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst()
            guard let value = rest.first == UInt8(ascii: "\"") ? quoted() : plain(), name.lowercased == "charset",
                value.unicodeScalars.allSatisfy({ $0 == "\t" || ("\u{20}"..."\u{FF}").contains($0) && $0 != "\u{7F}" })
            else { continue }
            let charset = value.lowercased().filter { !$0.isWhitespace }
            return charset.isEmpty ? nil : charset
        }
        return nil
    }

    /// Parses an unquoted value, or returns `nil` if it is empty.
    private mutating func plain() -> String? {
        let value = take(until: UInt8(ascii: ";")).trimmedAtEnd
        return value.isEmpty ? nil : String(Substring(value))
    }

    /// Parses a quoted value and skips the text up to the next parameter.
    ///
    /// The closing quote may be missing.
    private mutating func quoted() -> String {
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            value.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        _ = take(until: UInt8(ascii: ";"))
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func take(until end: UInt8) -> Substring.UTF8View {
        let part = rest.prefix { $0 != end }
        rest = rest.dropFirst(part.count)
        return part
    }
}

extension Substring.UTF8View {
    /// The text without leading and trailing whitespace.
    fileprivate var trimmed: Substring.UTF8View { trimmedAtStart.trimmedAtEnd }

    fileprivate var trimmedAtStart: Substring.UTF8View { drop(while: \.isHTTPWhitespace) }

    fileprivate var trimmedAtEnd: Substring.UTF8View {
        var text = self
        while let last = text.last, last.isHTTPWhitespace { text = text.dropLast() }
        return text
    }

    fileprivate var lowercased: String { String(Substring(self)).lowercased() }

    /// Whether the text is a token (RFC 9110 section 5.6.2).
    fileprivate var isToken: Bool { !isEmpty && allSatisfy(HTTPToken.isTokenByte) }
}

extension UInt8 {
    fileprivate var isHTTPWhitespace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

/// The parameters of a media type such as `multipart/form-data; boundary="x"` (RFC 9110 section 8.3.1).
package enum MediaTypeParameters {
    /// Returns the value of a parameter without quotes, or `nil` if it is missing or empty.
    package static func value(of name: String, in mediaType: String) -> String? {
        for parameter in HeaderList.pieces(of: mediaType, separatedBy: ";").dropFirst() {
            let scalars = parameter.unicodeScalars
            guard let equals = scalars.firstIndex(of: "=") else { continue }
            guard scalars[..<equals].trimmed.equalsIgnoringASCIICase(name) else { continue }
            let value = unquoted(scalars[scalars.index(after: equals)...].trimmed)
            return value.isEmpty ? nil : value
        }
        return nil
    }

    private static func unquoted(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.count >= 2, scalars.first == "\"", scalars.last == "\"" else { return text }
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in scalars.dropFirst().dropLast() {
            if scalar == "\\", !isEscaped {
                isEscaped = true
            } else {
                result.append(scalar)
                isEscaped = false
            }
        }
        return String(result)
    }
}
