/// A set of ASCII characters that are not percent-encoded in a part of a URL.
///
/// Every byte outside the set, and every byte above 127, is percent-encoded.
public struct URLCharacters: Sendable, Hashable {
    private var low: UInt64
    private var high: UInt64

    /// Creates a set of the ASCII characters in `text` and ignores its other characters.
    public init(_ text: String) {
        low = 0
        high = 0
        for byte in text.utf8 where byte < 128 { insert(byte) }
    }

    private init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }

    /// Whether the set contains the character.
    @inline(__always)
    package func contains(_ byte: UInt8) -> Bool {
        // `low` has one bit for each of the characters 0 to 63, and `high` for 64 to 127. The masking shift `&>>`
        // uses `byte` modulo 64, without the range check of the plain shift.
        let half = byte & 64 == 0 ? low : high
        return byte < 128 && half &>> UInt64(byte) & 1 == 1
    }

    /// Returns the characters of both sets.
    public func union(_ other: URLCharacters) -> URLCharacters {
        URLCharacters(low: low | other.low, high: high | other.high)
    }

    /// Returns the characters that are in both sets.
    package func intersection(_ other: URLCharacters) -> URLCharacters {
        URLCharacters(low: low & other.low, high: high & other.high)
    }

    /// Returns the set without the characters of `other`.
    public func subtracting(_ other: URLCharacters) -> URLCharacters {
        URLCharacters(low: low & ~other.low, high: high & ~other.high)
    }

    /// Letters, digits, `-`, `.`, `_` and `~` (RFC 3986 section 2.3).
    public static let unreserved = URLCharacters(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
    /// The characters of one path segment: unreserved, `!$&'()*+,;=`, `:` and `@` (RFC 3986 section 3.3).
    package static let pathSegment = unreserved.union(URLCharacters("!$&'()*+,;=:@"))
    /// The characters of a path: the characters of a segment, and `/`.
    package static let path = pathSegment.union(URLCharacters("/"))
    /// The characters of a query: the characters of a path, and `?` (RFC 3986 section 3.4).
    package static let query = path.union(URLCharacters("?"))
    /// The characters of a parameter's name or value: unreserved, `?` and `/`.
    ///
    /// Every character that delimits parameters is percent-encoded. `+` is also percent-encoded, because many servers
    /// decode it as a space.
    public static let parameter = unreserved.union(URLCharacters("?/"))
    /// The characters that the WHATWG form serializer does not encode: letters, digits, `*`, `-`, `.` and `_`.
    public static let form = unreserved.subtracting(URLCharacters("~")).union(URLCharacters("*"))
    /// All printable ASCII characters.
    package static let printable = URLCharacters(low: 0xFFFF_FFFF_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
}
