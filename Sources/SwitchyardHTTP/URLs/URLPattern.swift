/// A pattern for URLs: `*` matches anything within a path segment, `**` matches anything, and `?` matches one character
/// other than a slash.
///
/// `?` compares bytes, so a percent-encoded character needs `???`. If `**` is a whole segment before other segments, it
/// matches any number of segments, including none.
///
/// | pattern | matches | does not match |
/// |---|---|---|
/// | `/users/*` | `/users/7` | `/users/7/posts`, `/users/7/` |
/// | `/users/**` | `/users/7/posts`, `/users/` | `/user` |
/// | `/users/**/posts` | `/users/7/posts`, `/users/posts` | `/users/7posts` |
/// | `/**` | the base URL and everything below it | other servers |
/// | `/v?/x` | `/v1/x` | `/v10/x` |
/// | `https://*.example.com/**` | `https://cdn.example.com/a` | `http://cdn.example.com/a` |
///
/// A pattern without a scheme is relative to the base URL, with or without a leading slash. Queries are ignored. Scheme
/// and host are compared case-insensitively (RFC 3986 section 6.2.2.1). Spaces and non-ASCII characters in the pattern
/// match their percent-encoded form.
public struct URLPattern: Sendable, Hashable, ExpressibleByStringLiteral {
    private enum Element: Sendable, Hashable {
        case byte(UInt8)
        case one
        case segment
        case all
        /// `**/` at the start or after a slash. It is stored as two elements: `folders` matches whole segments, and
        /// `folder` matches the inside of a segment.
        case folders
        case folder
    }

    /// The text of the pattern.
    public let text: String
    private let elements: [Element]
    private let isAbsolute: Bool

    /// Creates a pattern.
    public init(_ text: String) {
        self.text = text
        isAbsolute = text.contains("://")
        var elements: [Element] = []
        for byte in Self.comparable(text.utf8) { Self.append(byte, to: &elements) }
        self.elements = elements
    }

    private static func append(_ byte: UInt8, to elements: inout [Element]) {
        switch byte {
        case UInt8(ascii: "*") where elements.last == .segment: elements[elements.count - 1] = .all
        case UInt8(ascii: "*") where elements.last != .all: elements.append(.segment)
        case UInt8(ascii: "*"): break
        case UInt8(ascii: "?"): elements.append(.one)
        case slash where elements.last == .all && startsSegment(elements.dropLast()):
            elements.replaceSubrange((elements.count - 1)..., with: [.folders, .folder])
        case UInt8(ascii: " "), 0x80...:
            let escape = [UInt8(ascii: "%"), PercentEncoding.hexDigit(byte >> 4), PercentEncoding.hexDigit(byte & 15)]
            elements += escape.map(Element.byte)
        default: elements.append(.byte(byte))
        }
    }

    private static let slash = UInt8(ascii: "/")

    /// Whether a path segment starts after these elements.
    ///
    /// After two slashes there is a host, not a path segment.
    private static func startsSegment(_ elements: ArraySlice<Element>) -> Bool {
        guard !elements.isEmpty, elements.last != .folder else { return true }
        return elements.last == .byte(slash) && elements.dropLast().last != .byte(slash)
    }

    /// Creates a pattern.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Whether a URL matches the pattern.
    ///
    /// - Parameters:
    ///   - url: The URL. Its query and fragment are ignored.
    ///   - base: The base URL for a pattern without a scheme.
    /// - Returns: Whether the URL matches.
    public func matches(_ url: RequestURL, base: RequestURL) -> Bool {
        matches(text: url.text, base: base.text)
    }

    /// Whether the text of a URL matches the pattern.
    ///
    /// If `base` is `nil`, a pattern without a scheme is compared with the whole text.
    func matches(text: String, base: String?) -> Bool {
        let url = Self.comparable(text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        guard !isAbsolute, let base else { return Self.match(elements[...], url[...]) }
        var stem = Self.comparable(base.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        if stem.last != UInt8(ascii: "/") { stem.append(UInt8(ascii: "/")) }
        // The base URL itself may be written without the trailing slash.
        guard url.starts(with: stem) || url == stem.dropLast() else { return false }
        let relative = elements.first == .byte(UInt8(ascii: "/")) ? elements.dropFirst() : elements[...]
        return Self.match(relative, url.dropFirst(stem.count))
    }

    /// Returns the bytes of a URL or pattern with scheme and host in lower case.
    ///
    /// The user name is unchanged.
    private static func comparable(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes = Array(text)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return bytes
        }
        let authority = colon + 3
        let end = bytes[authority...].firstIndex(of: slash) ?? bytes.endIndex
        let host = bytes[authority..<end].lastIndex(of: UInt8(ascii: "@")) ?? authority
        for index in 0..<end where (index < authority || index >= host) && (0x41...0x5A).contains(bytes[index]) {
            bytes[index] |= 0x20
        }
        return bytes
    }

    /// Returns whether the text matches the pattern.
    ///
    /// The function tracks all positions in the pattern that the text so far can reach, so the time is at most
    /// proportional to the product of the lengths of pattern and text.
    private static func match(_ pattern: ArraySlice<Element>, _ text: ArraySlice<UInt8>) -> Bool {
        var reachable = Places(in: pattern)
        var next = reachable
        reachable.insert(pattern.startIndex)
        for byte in text {
            next.removeAll()
            for position in pattern.indices where reachable.contains(position) {
                switch pattern[position] {
                case .byte(let expected): if expected == byte { next.insert(position + 1) }
                case .one: if byte != slash { next.insert(position + 1) }
                case .segment: if byte != slash { next.insert(position) }
                case .all: next.insert(position)
                case .folders: next.insert(byte == slash ? position : position + 1)
                case .folder: next.insert(byte == slash ? position - 1 : position)
                }
            }
            guard !next.isEmpty else { return false }
            swap(&reachable, &next)
        }
        return reachable.contains(pattern.endIndex)
    }

    /// A set of positions in a pattern, including its end.
    private struct Places {
        private let pattern: ArraySlice<Element>
        private var marks: [Bool]
        private(set) var isEmpty = true

        init(in pattern: ArraySlice<Element>) {
            self.pattern = pattern
            marks = [Bool](repeating: false, count: pattern.count + 1)
        }

        func contains(_ position: Int) -> Bool { marks[position - pattern.startIndex] }

        /// Inserts a position, and all positions that follow it after wildcards, because a wildcard may match no
        /// character.
        mutating func insert(_ position: Int) {
            isEmpty = false
            var next = position
            marks[next - pattern.startIndex] = true
            while next < pattern.endIndex, let width = URLPattern.widthOfWildcard(pattern[next]) {
                next += width
                marks[next - pattern.startIndex] = true
            }
        }

        mutating func removeAll() {
            isEmpty = true
            for index in marks.indices { marks[index] = false }
        }
    }

    /// Returns the number of elements to skip if a wildcard matches nothing, or `nil` for an element that must match a
    /// character.
    private static func widthOfWildcard(_ element: Element) -> Int? {
        switch element {
        case .segment, .all: 1
        case .folders: 2
        case .byte, .one, .folder: nil
        }
    }
}
