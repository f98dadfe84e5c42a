/// An absolute HTTP or HTTPS URL, validated and in the form in which it is sent.
package struct AbsoluteURL {
    /// Whether the scheme is `https`.
    var isSecure: Bool
    /// The validated authority.
    package var authority: URLAuthority
    /// The path, percent-encoded and without dot segments.
    ///
    /// It may be empty.
    package var path: [UInt8]
    /// The query, percent-encoded, or `nil` if there is none.
    package var query: [UInt8]?

    /// Validates a URL.
    ///
    /// Characters that are not allowed in a URL are percent-encoded. Valid percent escapes are kept.
    ///
    /// - Throws: ``RequestError/url(text:reason:)``.
    init(_ text: String) throws(RequestError) {
        let bytes = Array(text.utf8)
        guard !bytes.contains(where: URLControl.isForbidden) else {
            throw .url(text: text, reason: .controlCharacter)
        }
        try self.init(URLParts(bytes), text: text)
    }

    /// Validates the parts of `text`.
    init(_ parts: URLParts, text: String) throws(RequestError) {
        guard let scheme = parts.scheme else { throw .url(text: text, reason: .notAbsolute) }
        let name = String(decoding: scheme, as: UTF8.self).lowercased()
        guard name == "http" || name == "https" else { throw .url(text: text, reason: .unsupportedScheme(name)) }
        guard let bytes = parts.authority else { throw .url(text: text, reason: .invalidHost) }
        isSecure = name == "https"
        authority = try URLAuthority(bytes, in: text)
        let escaped = URLEscaping.path(parts.path)
        path = DotSegments.occur(in: escaped) ? DotSegments.removed(from: escaped, clamps: true) ?? [] : escaped
        query = parts.query.map(URLEscaping.query)
    }

    var scheme: String { isSecure ? "https" : "http" }

    /// The origin as bytes: scheme, host and port.
    var originBytes: [UInt8] { Array("\(scheme)://".utf8) + authority.bytes }

    /// The whole URL as bytes.
    var bytes: [UInt8] {
        var output = originBytes
        output += path
        if let query {
            output.append(UInt8(ascii: "?"))
            output += query
        }
        return output
    }

    /// The URL with the scheme `https`.
    ///
    /// An explicit port 80 is removed, and any other port is kept.
    var secured: AbsoluteURL {
        guard !isSecure else { return self }
        var copy = self
        copy.isSecure = true
        if copy.authority.port == 80 { copy.authority.port = nil }
        return copy
    }
}

/// The bytes that are not allowed in any part of a URL, encoded or not, because they would allow request splitting.
enum URLControl {
    static func isForbidden(_ byte: UInt8) -> Bool {
        byte == 13 || byte == 10 || byte == 0
    }
}

/// Percent-encoding for the parts of a URL that is given as text.
package enum URLEscaping {
    static func path(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        escaped(bytes, allowed: .path)
    }

    package static func query(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        escaped(bytes, allowed: .query)
    }

    private static func escaped(_ bytes: ArraySlice<UInt8>, allowed: URLCharacters) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        PercentEncoding.append(bytes, allowed: allowed, keepingEscapes: true, to: &output)
        return output
    }
}
