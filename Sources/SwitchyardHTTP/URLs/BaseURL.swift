/// A base URL that is parsed once, so that joining a path is a copy of bytes.
///
/// A client keeps a base URL for each server and environment.
package struct BaseURL: Sendable, Hashable {
    /// The bytes of a base URL to which paths are joined.
    final class Stem: Sendable {
        /// The base URL without its query.
        let whole: [UInt8]
        /// The base URL without its query and trailing slashes.
        let trimmed: [UInt8]
        /// The scheme and authority.
        let origin: [UInt8]

        init(origin: [UInt8], path: [UInt8]) {
            self.origin = origin
            whole = origin + path
            trimmed = origin + path.reversed().drop { $0 == UInt8(ascii: "/") }.reversed()
        }
    }

    /// The parsed URL, shared by all copies because each request copies a base URL several times.
    private final class Parts: Sendable {
        let url: RequestURL
        let origin: RequestURL.Origin
        let securedOrigin: RequestURL.Origin
        let stem: Stem
        let securedStem: Stem
        let path: [UInt8]
        let query: [UInt8]?

        init(_ url: RequestURL, _ parts: AbsoluteURL) {
            self.url = url
            path = parts.path
            query = parts.query
            origin = RequestURL.Origin(parts)
            stem = Stem(origin: parts.originBytes, path: path)
            securedOrigin = parts.isSecure ? origin : RequestURL.Origin(parts.secured)
            securedStem = parts.isSecure ? stem : Stem(origin: parts.secured.originBytes, path: path)
        }
    }

    private let parts: Parts

    /// Parses a URL.
    ///
    /// - Parameter url: The base URL. With `PathJoin.append`, a trailing slash in its path makes no difference to the
    ///   paths that are joined to it.
    package init(_ url: RequestURL) {
        parts = Parts(url, url.absolute)
    }

    /// Parses the URL in `text`.
    ///
    /// - Throws: ``RequestError/url(text:reason:)`` if the text is not an absolute HTTP or HTTPS URL.
    package init(_ text: String) throws(RequestError) {
        let url = try AbsoluteURL(text)
        parts = Parts(RequestURL(url), url)
    }

    /// The URL as given.
    package var url: RequestURL { parts.url }
    /// The scheme, host and port, for comparison.
    package var origin: RequestURL.Origin { parts.origin }
    var stem: Stem { parts.stem }
    /// The bytes to which paths are joined, with the scheme `https`.
    var securedStem: Stem { parts.securedStem }
    /// The path of the base URL, percent-encoded and without dot segments.
    var path: [UInt8] { parts.path }
    /// The query of the base URL, which is placed before the query of a path.
    package var query: [UInt8]? { parts.query }

    /// Whether the URLs of two base URLs are equal.
    package static func == (left: BaseURL, right: BaseURL) -> Bool { left.url == right.url }

    /// Hashes the URL.
    package func hash(into hasher: inout Hasher) { hasher.combine(url) }

    /// Whether an origin is the base URL's origin, or differs from it only by `https` in place of `http`.
    fileprivate func isHome(_ other: RequestURL.Origin) -> Bool {
        other == origin || other == parts.securedOrigin
    }
}

extension BaseURL {
    /// The path with exactly one trailing slash.
    ///
    /// URLs below the base URL have this prefix.
    package var folder: [UInt8] {
        path.reversed().drop { $0 == UInt8(ascii: "/") }.reversed() + [UInt8(ascii: "/")]
    }
}

extension BaseURL: CustomStringConvertible {
    /// The URL as given.
    public var description: String { url.text }
}

extension RequestURL {
    /// Whether the URL has the host of a base URL, and either the scheme of the base URL or `https` in place of `http`.
    package func isAt(_ base: BaseURL) -> Bool {
        isBelow(base) || isBelow(base, secured: true) || base.isHome(origin)
    }

    /// Whether the URL starts with the scheme, host and port of a base URL, compared by bytes.
    ///
    /// - Parameters:
    ///   - base: The base URL.
    ///   - secured: Whether the scheme must be `https`, whatever the scheme of the base URL.
    /// - Returns: Whether the URL starts with them.
    package func isBelow(_ base: BaseURL, secured: Bool = false) -> Bool {
        let origin = (secured ? base.securedStem : base.stem).origin
        return text.withContiguousUTF8 { bytes in
            guard bytes.begins(with: origin) else { return false }
            guard bytes.count > origin.count else { return true }
            return bytes[origin.count] == UInt8(ascii: "/") || bytes[origin.count] == UInt8(ascii: "?")
        }
    }
}
