/// An operation that joins one path to a base URL.
package struct URLJoiner: ~Copyable {
    /// The URL so far.
    package var output: ByteBuffer
    /// The origin of an absolute or scheme-relative path, or `nil` if the origin of the base URL is kept.
    package private(set) var foreignOrigin: RequestURL.Origin?

    /// Joins `path` to `base`.
    ///
    /// - Throws: ``RequestError/url(text:reason:)`` if the path is neither a valid path nor a URL, or leaves the base
    ///   URL's path.
    package init(path: String, on base: BaseURL, join: PathJoin, secured: Bool) throws(RequestError) {
        let stem = secured ? base.securedStem : base.stem
        output = ByteBuffer(capacity: stem.whole.count + path.utf8.count + 96)
        if join == .append, appendPlain(path, to: stem) {
            if let query = base.query { appendQuery(query) }
        } else {
            try joinCarefully(path, base, stem, join)
        }
    }

    // MARK: - Fast path

    /// The path characters that need no further check.
    ///
    /// `.` and `:` may have a special meaning, depending on their place.
    private static let plain = URLCharacters.pathSegment.subtracting(URLCharacters(":"))

    /// Appends a path that needs no encoding or resolving.
    ///
    /// For any other path, it changes nothing and returns `false`.
    private mutating func appendPlain(_ path: String, to stem: BaseURL.Stem) -> Bool {
        var path = path
        return path.withUTF8 { bytes in
            guard let first = bytes.first else {
                output.append(stem.whole)
                return true
            }
            guard Self.isPlain(bytes) else { return false }
            output.append(stem.trimmed)
            if first != UInt8(ascii: "/") { output.append(UInt8(ascii: "/")) }
            output.append(bytes)
            return true
        }
    }

    private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let plain = Self.plain
        var previous = UInt8(ascii: "/")
        for byte in bytes {
            if byte == UInt8(ascii: "."), previous == UInt8(ascii: "/") { return false }
            guard plain.contains(byte) || byte == UInt8(ascii: "/") else { return false }
            previous = byte
        }
        return true
    }

    // MARK: - General path

    private mutating func joinCarefully(
        _ path: String,
        _ base: BaseURL,
        _ stem: BaseURL.Stem,
        _ join: PathJoin
    ) throws(RequestError) {
        let bytes = Array(path.utf8)
        guard !bytes.contains(where: URLControl.isForbidden) else {
            throw .url(text: path, reason: .controlCharacter)
        }
        let parts = URLParts(bytes)
        if parts.scheme != nil, parts.authority != nil { return try takeAbsolute(parts, path) }
        switch join {
        case .append: try append(bytes, base, stem, path)
        case .relative: try resolve(parts, base, stem, path)
        }
    }

    private mutating func takeAbsolute(_ parts: URLParts, _ text: String) throws(RequestError) {
        let url = try AbsoluteURL(parts, text: text)
        foreignOrigin = RequestURL.Origin(url)
        output.append(url.bytes)
    }

    private mutating func append(
        _ bytes: [UInt8],
        _ base: BaseURL,
        _ stem: BaseURL.Stem,
        _ text: String
    ) throws(RequestError) {
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        var path = URLEscaping.path(bytes[..<end])
        if DotSegments.occur(in: path) {
            if path.first == UInt8(ascii: "/") { path.removeFirst() }
            guard let inside = DotSegments.removed(from: path, clamps: false) else {
                throw .url(text: text, reason: .escapesBasePath)
            }
            path = [UInt8(ascii: "/")] + inside
        }
        if path.isEmpty {
            output.append(stem.whole)
        } else {
            output.append(stem.trimmed)
            if path.first != UInt8(ascii: "/") { output.append(UInt8(ascii: "/")) }
            output.append(path)
        }
        appendQuery(base.query)
        appendQuery(URLParts(bytes).query.map(URLEscaping.query))
    }

    private mutating func appendQuery(_ query: [UInt8]?) {
        guard let query else { return }
        switch output.queryLead() {
        case .questionMark: output.append(UInt8(ascii: "?"))
        case .separator where !query.isEmpty: output.append(UInt8(ascii: "&"))
        case .separator, nil: break
        }
        output.append(query)
    }

    /// Resolves a reference against the base's path and query (RFC 3986 section 5.2.2).
    private mutating func resolve(
        _ parts: URLParts,
        _ base: BaseURL,
        _ stem: BaseURL.Stem,
        _ text: String
    ) throws(RequestError) {
        if let authority = parts.authority {
            let checked = try URLAuthority(authority, in: text)
            foreignOrigin = RequestURL.Origin(isSecure: stem.isSecure, authority: checked)
            output.append(stem.isSecure ? "https://" : "http://")
            output.append(checked.bytes)
            output.append(DotSegments.removed(from: URLEscaping.path(parts.path), clamps: true) ?? [])
        } else if let scheme = parts.scheme, String(decoding: scheme, as: UTF8.self).lowercased() != stem.scheme {
            // A reference with another scheme, such as `mailto:x`, is not a path. The base's own scheme without `//`,
            // as in `https:x`, is accepted in front of a path, as RFC 3986 allows and browsers do.
            throw .url(text: text, reason: .unsupportedScheme(String(decoding: scheme, as: UTF8.self)))
        } else if parts.path.isEmpty {
            output.append(stem.whole)
            if parts.query == nil { appendQuery(base.query) }
        } else {
            appendResolved(URLEscaping.path(parts.path), base, stem)
        }
        appendQuery(parts.query.map(URLEscaping.query))
    }

    private mutating func appendResolved(_ path: [UInt8], _ base: BaseURL, _ stem: BaseURL.Stem) {
        var merged: [UInt8] = [UInt8(ascii: "/")]
        if path.first == UInt8(ascii: "/") {
            merged = path
        } else if let slash = base.path.lastIndex(of: UInt8(ascii: "/")) {
            merged = base.path[...slash] + path
        } else {
            merged += path
        }
        output.append(stem.origin)
        output.append(DotSegments.removed(from: merged, clamps: true) ?? merged)
    }
}

extension BaseURL.Stem {
    var isSecure: Bool { origin.count > 4 && origin[4] == UInt8(ascii: "s") }
    var scheme: String { isSecure ? "https" : "http" }
}

/// The way in which the path of a request is joined to the base URL.
///
/// | base | path | ``append`` | ``relative`` |
/// |---|---|---|---|
/// | `https://h/v1` | *(empty)* | `https://h/v1` | `https://h/v1` |
/// | `https://h/v1` | `users` | `https://h/v1/users` | `https://h/users` |
/// | `https://h/v1/` | `users` | `https://h/v1/users` | `https://h/v1/users` |
/// | `https://h/v1` | `/users` | `https://h/v1/users` | `https://h/users` |
/// | `https://h/v1` | `users/` | `https://h/v1/users/` | `https://h/users/` |
/// | `https://h/v1` | `/` | `https://h/v1/` | `https://h/` |
/// | `https://h/v1?k=1` | `users?p=2` | `https://h/v1/users?k=1&p=2` | `https://h/users?p=2` |
/// | `https://h/v1` | `?p=2` | `https://h/v1?p=2` | `https://h/v1?p=2` |
/// | `https://h/v1` | `users#top` | `https://h/v1/users` | `https://h/users` |
/// | `https://h/v1` | `a b/ü` | `https://h/v1/a%20b/%C3%BC` | `https://h/a%20b/%C3%BC` |
/// | `https://h/v1` | `a%20b` | `https://h/v1/a%20b` | `https://h/a%20b` |
/// | `https://h/v1` | `a/../b` | `https://h/v1/b` | `https://h/b` |
/// | `https://h/v1` | `../b` | error | `https://h/b` |
/// | `https://h/v1` | `//x/y` | `https://h/v1//x/y` | `https://x/y` |
/// | `https://h/v1` | `http://x/y` | `http://x/y` | `http://x/y` |
/// | `https://h/v1` | `http://h/y` | `https://h/y` | `https://h/y` |
/// | `https://h/v1` | `items:find` | `https://h/v1/items:find` | error |
/// | `https://h/v1` | `httpLogs/x` | `https://h/v1/httpLogs/x` | `https://h/httpLogs/x` |
public enum PathJoin: Sendable, Hashable {
    /// The path is appended to the path of the base URL and cannot lead out of it.
    ///
    /// This is the default.
    case append
    /// The path is resolved like a link on a page whose URL is the base URL (RFC 3986 section 5.2).
    case relative
}
