/// A set of ASCII characters: those that stand in a part of a URL as they are.
///
/// Every byte outside the set, and every byte above 127, is percent-encoded.
public struct URLCharacters: Sendable, Hashable {
    private var low: UInt64
    private var high: UInt64

    /// Creates the set of the ASCII characters of `text`; others are left out.
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

    /// Whether the set holds the character.
    @inline(__always)
    public func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return low >> UInt64(byte) & 1 == 1 }
        return byte < 128 && high >> UInt64(byte & 63) & 1 == 1
    }

    /// Returns the characters of both sets.
    public func union(_ other: URLCharacters) -> URLCharacters {
        URLCharacters(low: low | other.low, high: high | other.high)
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
    public static let pathSegment = unreserved.union(URLCharacters("!$&'()*+,;=:@"))
    /// The characters of a path: those of a segment and `/`.
    public static let path = pathSegment.union(URLCharacters("/"))
    /// The characters of a query: those of a path and `?` (RFC 3986 section 3.4).
    public static let query = path.union(URLCharacters("?"))
    /// The characters of a parameter's name or value: unreserved, `?` and `/`.
    ///
    /// Everything with a meaning between parameters is encoded, `+` included, which many servers read as a space.
    public static let parameter = unreserved.union(URLCharacters("?/"))
    /// The characters that the WHATWG form serialiser leaves alone: letters, digits, `*`, `-`, `.` and `_`.
    public static let form = unreserved.subtracting(URLCharacters("~")).union(URLCharacters("*"))
    /// All printable ASCII characters.
    public static let printable = URLCharacters(low: 0xFFFF_FFFF_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
}

/// Percent-encoding into a buffer of bytes.
enum PercentEncoding {
    /// Appends `byte` as `%XX`.
    @inline(__always)
    static func appendEscaped(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "%"))
        output.append(hexDigit(byte >> 4))
        output.append(hexDigit(byte & 15))
    }

    /// Appends `bytes`, those outside `allowed` percent-encoded; with `keepingEscapes` a valid `%XX` stays.
    static func append(
        _ bytes: some RandomAccessCollection<UInt8>,
        allowed: URLCharacters,
        keepingEscapes: Bool = false,
        to output: inout [UInt8]
    ) {
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            if allowed.contains(byte) || (keepingEscapes && isEscape(bytes, at: index)) {
                output.append(byte)
            } else {
                appendEscaped(byte, to: &output)
            }
            index = bytes.index(after: index)
        }
    }

    /// Whether a valid `%XX` starts at `index`.
    static func isEscape<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes, at index: Bytes.Index) -> Bool {
        guard bytes[index] == UInt8(ascii: "%"), bytes.distance(from: index, to: bytes.endIndex) > 2 else {
            return false
        }
        let first = bytes.index(after: index)
        return value(bytes[first]) != nil && value(bytes[bytes.index(after: first)]) != nil
    }

    /// The value of a hexadecimal digit.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    @inline(__always)
    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "A")
    }
}
