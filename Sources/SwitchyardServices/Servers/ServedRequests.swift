/// The requests that a server responds to.
///
/// A request is never sent to a server that does not serve it.
public enum ServedRequests: Sendable, Hashable {
    /// All requests; the default.
    case everything
    /// The requests with a safe method (RFC 9110 section 9.2.1): GET, HEAD, OPTIONS, TRACE and QUERY.
    case reads
    /// The requests that match at least one pattern, such as `GET /catalog/**` or `* /images/*`.
    ///
    /// A pattern consists of a method in capital letters or `*`, a space, and a path pattern. The path pattern is
    /// relative to the base URL: `*` matches anything within a path segment, `**` matches anything, and `?` matches one
    /// character. The list must not be empty.
    case matching([String])

    /// The names of the safe methods.
    package static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]

    /// The strings that name the requests in error messages and reports.
    package var texts: [String] {
        switch self {
        case .everything: ["everything"]
        case .reads: ["reads"]
        case .matching(let patterns): patterns
        }
    }

    /// An example of a read that the server serves, or `nil` if it serves only writes.
    ///
    /// The path is that of the first pattern that includes reads, with `x` in place of its wildcards. The path is empty
    /// if there are no patterns.
    package var sample: (method: String, path: String)? {
        guard case .matching(let patterns) = self else { return ("GET", "") }
        let reads = patterns.lazy.compactMap { try? ServedPattern($0, at: "") }
            .filter { $0.method.map(Self.safeMethods.contains) ?? true }
        return reads.first.map { ($0.method ?? "GET", $0.example) }
    }

    /// Whether these requests certainly include all requests that `text` describes: a pattern, `everything` or `reads`.
    package func covers(_ text: String) -> Bool {
        switch self {
        case .everything: return true
        case .reads: return text == "reads" || Self.safeMethods.contains(text.prefix { $0 != " " }.description)
        case .matching(let patterns):
            let method = text.prefix { $0 != " " }
            return patterns.contains { [text, "* /**", "\(method) /**"].contains($0) }
        }
    }

    /// Whether a probe can test the server, because the server serves a request with a safe method.
    var includesReads: Bool {
        guard case .matching(let patterns) = self else { return true }
        return patterns.contains { text in
            let pattern = try? ServedPattern(text, at: "")
            return pattern.map { $0.method.map(Self.safeMethods.contains) ?? true } ?? false
        }
    }

    /// Checks the patterns.
    ///
    /// - Parameter path: The path of the value in the service file.
    /// - Throws: The ``CatalogError`` of the first invalid pattern.
    func check(at path: String) throws(CatalogError) {
        guard case .matching(let patterns) = self else { return }
        guard !patterns.isEmpty else { throw CatalogError(.invalidValue, at: path, expected: "at least one pattern") }
        var seen: Set<ServedPattern> = []
        for (index, text) in patterns.enumerated() {
            let place = "\(path)[\(index)]"
            guard seen.insert(try ServedPattern(text, at: place)).inserted else {
                throw CatalogError(.invalidValue, at: place, expected: "each pattern only once", found: text)
            }
        }
    }
}

extension ServedRequests: ExpressibleByArrayLiteral {
    /// Creates the requests that match at least one of the patterns.
    public init(arrayLiteral patterns: String...) {
        self = .matching(patterns)
    }
}

/// A pattern of requests: a method, and a path pattern relative to the base URL.
package struct ServedPattern: Sendable, Hashable {
    /// The method, or `nil` for all methods.
    package let method: String?
    /// The path pattern with a leading slash.
    package let path: String

    /// The path with `x` in place of its wildcards.
    package var example: String {
        var example = ""
        for character in path where character != "*" || example.last != "x" {
            example.append("*?".contains(character) ? "x" : character)
        }
        return example
    }

    /// Reads a pattern such as `GET /catalog/**`.
    ///
    /// - Throws: A ``CatalogError`` at `place` if the text is not a pattern.
    package init(_ text: String, at place: String) throws(CatalogError) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isMethod(parts[0]) else {
            let expected = "a method in capital letters (or *), a space, and a path pattern"
            throw CatalogError(.invalidValue, at: place, expected: expected, found: text)
        }
        guard Self.isPath(parts[1]) else {
            let expected = "a path pattern relative to the base URL, without scheme and fragment"
            throw CatalogError(.invalidValue, at: place, expected: expected, found: text)
        }
        method = parts[0] == "*" ? nil : String(parts[0])
        path = parts[1].hasPrefix("/") ? String(parts[1]) : "/\(parts[1])"
    }

    private static func isMethod(_ text: Substring) -> Bool {
        text == "*" || !text.isEmpty && text.utf8.allSatisfy(isMethodByte)
    }

    private static func isMethodByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }

    private static func isPath(_ text: Substring) -> Bool {
        !text.isEmpty && !text.hasPrefix("//") && !text.contains("://")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }
    }
}
