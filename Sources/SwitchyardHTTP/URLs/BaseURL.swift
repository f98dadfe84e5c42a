/// A base URL, taken apart once so that joining a path to it is a copy of bytes.
///
/// A client keeps one for each server and environment.
public struct BaseURL: Sendable, Hashable {
    /// The forms that a join starts from.
    final class Stem: Sendable {
        /// The base without its query.
        let whole: [UInt8]
        /// The same without slashes at its end.
        let trimmed: [UInt8]
        /// Scheme and authority.
        let origin: [UInt8]

        init(origin: [UInt8], path: [UInt8]) {
            self.origin = origin
            whole = origin + path
            trimmed = origin + path.reversed().drop { $0 == UInt8(ascii: "/") }.reversed()
        }
    }

    /// What was found in the URL, shared by all copies: every request copies a base URL several times.
    private final class Parts: Sendable {
        let url: RequestURL
        let origin: RequestURL.Origin
        let securedOrigin: RequestURL.Origin
        let stem: Stem
        let securedStem: Stem
        let path: [UInt8]
        let query: [UInt8]?

        init(_ url: RequestURL) {
            self.url = url
            let parts = url.absolute
            path = parts.path
            query = parts.query
            origin = RequestURL.Origin(parts)
            stem = Stem(origin: parts.originBytes, path: path)
            securedOrigin = parts.isSecure ? origin : RequestURL.Origin(parts.secured)
            securedStem = parts.isSecure ? stem : Stem(origin: parts.secured.originBytes, path: path)
        }
    }

    private let parts: Parts

    /// Takes a URL apart.
    ///
    /// - Parameter url: The base; its path may end with a slash or not, the joins are the same.
    public init(_ url: RequestURL) {
        parts = Parts(url)
    }

    /// Takes the URL apart that `text` holds.
    ///
    /// - Throws: ``RequestError/url(text:reason:)`` when it is no absolute http or https URL.
    public init(_ text: String) throws(RequestError) {
        self.init(try RequestURL(validating: text))
    }

    /// The URL as it was given.
    public var url: RequestURL { parts.url }
    /// Scheme, host and port, for comparison.
    public var origin: RequestURL.Origin { parts.origin }
    var stem: Stem { parts.stem }
    /// The same under https.
    var securedStem: Stem { parts.securedStem }
    /// The base's path, percent-encoded, without dot segments.
    var path: [UInt8] { parts.path }
    /// The base's own query; it stays in front of every other.
    package var query: [UInt8]? { parts.query }

    /// Two are the same when their URLs are.
    public static func == (left: BaseURL, right: BaseURL) -> Bool { left.url == right.url }

    /// Hashes the URL.
    public func hash(into hasher: inout Hasher) { hasher.combine(url) }

    /// Whether an origin is that of the base, or the one that it has under https in place of http.
    fileprivate func isHome(_ other: RequestURL.Origin) -> Bool {
        other == origin || other == parts.securedOrigin
    }
}

extension BaseURL {
    /// The path with one slash at its end: what stands behind it is below the base.
    package var folder: [UInt8] {
        path.reversed().drop { $0 == UInt8(ascii: "/") }.reversed() + [UInt8(ascii: "/")]
    }
}

extension BaseURL: CustomStringConvertible {
    /// The URL as it was given.
    public var description: String { url.text }
}

extension RequestURL {
    /// Whether the URL begins with scheme, host and port of a base; a comparison of bytes.
    package func isBelow(_ base: BaseURL) -> Bool { begins(with: base.stem.origin) }

    /// Whether the URL leads to the host of a base, under the base's own scheme or under https in place of http.
    package func isAt(_ base: BaseURL) -> Bool {
        isBelow(base) || begins(with: base.securedStem.origin) || base.isHome(origin)
    }

    private func begins(with origin: [UInt8]) -> Bool {
        text.withContiguousUTF8 { bytes in
            guard origin.withUnsafeBytes({ bytes.begins(with: $0) }) else { return false }
            guard bytes.count > origin.count else { return true }
            return bytes[origin.count] == UInt8(ascii: "/") || bytes[origin.count] == UInt8(ascii: "?")
        }
    }
}
