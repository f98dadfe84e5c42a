import Foundation
import SwitchyardServices

/// A walk over output in any format that replaces the secrets in it.
///
/// Each function returns the bytes with the secrets replaced, or `nil` if there are none. Nested content is walked one
/// level deeper, and the number of levels is limited. So the time is linear in the length, and the stack cannot
/// overflow.
struct SecretWalk {
    typealias Bytes = ArraySlice<UInt8>

    let redaction: Redaction
    /// Whether a short `code` in JSON is shown: see ``Redaction/parameterNames``.
    let keepsBusinessCodes: Bool
    /// Whether a word such as `a?b=c` is treated as a URL.
    private(set) var takesRelativeURLs = true
    /// The number of further nesting levels that may be entered.
    private(set) var depth = 6

    init(_ redaction: Redaction, keepsBusinessCodes: Bool = false) {
        self.redaction = redaction
        self.keepsBusinessCodes = keepsBusinessCodes
    }

    var mark: [UInt8] { Array(redaction.mark.utf8) }

    /// The walk for content nested one level deeper.
    var deeper: SecretWalk {
        var walk = self
        walk.depth -= 1
        walk.takesRelativeURLs = true
        return walk
    }

    /// Redacts the value of a header field whose name is not secret.
    func field(_ bytes: Bytes, named name: String, takesRelativeURLs: Bool) -> [UInt8]? {
        let lower = name.lowercased()
        let isWord = !bytes.contains { Self.breaks.contains($0) || $0 == UInt8(ascii: ",") }
        if isWord, Self.addressEndings.contains(where: { lower.hasSuffix($0) }) { return url(bytes) }
        let words = bytes.split(separator: UInt8(ascii: " "))
        if words.count == 2, CredentialShape.isScheme(words[0]), !CredentialShape.isWord(words[1]) {
            var result = Replacements(of: bytes)
            result.replace(words[1].indices, with: mark)
            return result.bytes
        }
        var walk = self
        walk.takesRelativeURLs = takesRelativeURLs
        return walk.text(bytes)
    }

    /// Redacts the value of a parameter whose name is not secret, in any format.
    func leaf(_ bytes: Bytes) -> [UInt8]? {
        guard bytes.count > 3 else { return nil }
        guard depth > 0 else { return bytes.contains(where: Self.structure.contains) ? mark : words(bytes) }
        return Self.looksLikeJSON(bytes) ? deeper.json(bytes) : deeper.text(bytes)
    }

    /// Redacts a value that may be percent-encoded and whose name is not secret.
    func encodedLeaf(_ bytes: Bytes) -> [UInt8]? {
        guard let plain = Self.percentDecoded(bytes) else { return leaf(bytes) }
        guard depth > 0 else { return mark }
        return deeper.leaf(plain[...]).map(Self.percentEncoded)
    }

    /// Redacts the JSON Web Tokens in text without structure, which is neither a URL nor parameters.
    func words(_ bytes: Bytes) -> [UInt8]? {
        var result = Replacements(of: bytes)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let end = bytes[position...].firstIndex { !CredentialShape.tokenCharacters.contains($0) } ?? bytes.endIndex
            if let start = CredentialShape.startOfWebToken(in: bytes[position..<end]) {
                result.replace(start..<end, with: mark)
            }
            position = end + 1
        }
        return result.bytes
    }

    /// Whether the first byte that is not whitespace or part of a byte order mark opens an object or an array.
    static func looksLikeJSON(_ bytes: Bytes) -> Bool {
        let first = firstByte(of: bytes)
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Returns the first byte that is not whitespace or part of a byte order mark.
    static func firstByte(of bytes: Bytes) -> UInt8? {
        bytes.first { ![9, 10, 13, 32, 0xEF, 0xBB, 0xBF].contains($0) }
    }

    /// The separators of words: whitespace, and the characters that are not allowed in a URL (RFC 3986 appendix C).
    static let breaks: URLCharacters = {
        let controls = (UInt8(0)..<32).map { String(Unicode.Scalar($0)) }.joined()
        return URLCharacters("\"<>`{}|\\^ \u{7F}" + controls)
    }()
    /// The characters that occur only in structured text.
    private static let structure = URLCharacters("=%?:\"<")
    /// The endings of the names of header fields that contain a URL.
    ///
    /// The URL may start with its path or query.
    private static let addressEndings = [
        "location", "referer", "referrer", "uri", "url", "link", "destination", "redirect",
    ]
}

// MARK: - Percent-encoding

extension SecretWalk {
    /// Returns the percent-decoded bytes, or `nil` if nothing is encoded.
    static func percentDecoded(_ bytes: Bytes) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "%")) else { return nil }
        var (plain, isEncoded) = ([UInt8](), false)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            guard PercentEncoding.isEscape(bytes, at: position), let high = PercentEncoding.value(bytes[position + 1]),
                let low = PercentEncoding.value(bytes[position + 2])
            else {
                plain.append(bytes[position])
                position += 1
                continue
            }
            plain.append(high << 4 | low)
            position += 3
            isEncoded = true
        }
        return isEncoded ? plain : nil
    }

    static func percentEncoded(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        PercentEncoding.append(bytes, allowed: CredentialShape.tokenCharacters.union(URLCharacters("~*")), to: &output)
        return output
    }
}

// MARK: - Replacements

extension SecretWalk {
    /// Bytes with some parts replaced.
    ///
    /// The bytes are copied only if a part is replaced.
    ///
    /// Replacements must be made in order, from start to end.
    struct Replacements {
        private let source: Bytes
        private var output: [UInt8] = []
        private var position: Int
        private var isChanged = false

        init(of source: Bytes) {
            self.source = source
            position = source.startIndex
        }

        mutating func replace(_ range: Range<Int>, with bytes: [UInt8]) {
            output += source[position..<range.lowerBound]
            output += bytes
            position = range.upperBound
            isChanged = true
        }

        /// Replaces a part with its redacted bytes.
        ///
        /// If `bytes` is `nil`, the part stays unchanged.
        mutating func replace(_ part: Bytes, with bytes: [UInt8]?) {
            if let bytes { replace(part.indices, with: bytes) }
        }

        /// The copy, or `nil` if nothing was replaced.
        var bytes: [UInt8]? { isChanged ? output + source[position...] : nil }
    }
}

extension SecretWalk {
    /// Redacts a URL, or the path and query of a URL.
    func url(_ bytes: Bytes) -> [UInt8]? {
        if Self.isDataURL(bytes) { return dataURL(bytes) }
        var result = Replacements(of: bytes)
        if let start = Self.startOfTornUser(in: bytes) {
            result.replace(start..<bytes.endIndex, with: mark)
            return result.bytes
        }
        let hash = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        address(bytes[..<hash], &result)
        guard hash < bytes.endIndex else { return result.bytes }
        let fragment = bytes[(hash + 1)...]
        if fragment.contains(UInt8(ascii: "?")) {
            address(fragment, &result)
        } else {
            query(fragment, &result)
        }
        return result.bytes
    }

    /// Redacts a query or form, whose parameters are separated by `&` or `;`.
    func query(_ bytes: Bytes) -> [UInt8]? {
        var result = Replacements(of: bytes)
        query(bytes, &result)
        return result.bytes
    }

    /// Returns the start of the user name in a URL whose password contains `/`, `?` or `#` unencoded, otherwise `nil`.
    ///
    /// Such a character ends the authority early. The text after the colon is then not a port number, and an `@`
    /// follows later.
    static func startOfTornUser(in bytes: Bytes) -> Int? {
        guard bytes.contains(UInt8(ascii: "@")), let start = authority(in: bytes) else { return nil }
        let authority = bytes[start...].prefix { !"/?#".utf8.contains($0) }
        guard !authority.contains(UInt8(ascii: "@")), authority.first != UInt8(ascii: "["),
            let colon = authority.firstIndex(of: UInt8(ascii: ":")),
            !authority[(colon + 1)...].allSatisfy(\.isDigit),
            bytes[authority.endIndex...].contains(UInt8(ascii: "@"))
        else { return nil }
        return start
    }

    /// Redacts a URL without its fragment.
    private func address(_ bytes: Bytes, _ result: inout Replacements) {
        let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        path(bytes[..<end], &result)
        if end < bytes.endIndex { query(bytes[(end + 1)...], &result) }
    }

    private func query(_ bytes: Bytes, _ result: inout Replacements) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            // A semicolon may be part of a value, so everything after a hidden name up to the next `&` is hidden.
            if hides(pair) { hide(pair, &result) } else { parts(of: pair, &result) }
        }
    }

    /// Redacts pairs that are separated by semicolons, such as path parameters.
    private func parts(of bytes: Bytes, _ result: inout Replacements) {
        for part in bytes.split(separator: UInt8(ascii: ";")) {
            if hides(part) {
                hide(part, &result)
            } else {
                let value = part.firstIndex(of: UInt8(ascii: "=")).map { part[($0 + 1)...] } ?? part
                result.replace(value, with: encodedLeaf(value))
            }
        }
    }

    private func hides(_ pair: Bytes) -> Bool {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let name = pair[..<equals]
        guard takesRelativeURLs || !name.contains(UInt8(ascii: "?")) else { return false }
        return redaction.hides(parameter: String(decoding: name, as: UTF8.self))
    }

    private func hide(_ pair: Bytes, _ result: inout Replacements) {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return }
        result.replace(equals + 1..<pair.endIndex, with: mark)
    }
}

// MARK: - Paths

extension SecretWalk {
    /// Redacts the part of a URL before the query: scheme, authority and path.
    private func path(_ bytes: Bytes, _ result: inout Replacements) {
        var takesCredentials = false
        for segment in bytes.split(separator: UInt8(ascii: "/")) {
            defer { takesCredentials = takesCredentials || announcesCredentials(segment) }
            if isAuthority(segment, in: bytes), let at = segment.lastIndex(of: UInt8(ascii: "@")) {
                result.replace(segment.startIndex..<at, with: mark)
            } else if takesCredentials, CredentialShape.isOpaque(segment) {
                result.replace(segment.indices, with: mark)
            } else if segment.count > 3 {
                parts(of: segment, &result)
            }
        }
    }

    /// Whether the segments after a path segment may be credentials: `/webhooks/7/…`, `/reset-password/…`.
    private func announcesCredentials(_ segment: Bytes) -> Bool {
        guard (3...64).contains(segment.count) else { return false }
        let name = String(decoding: segment, as: UTF8.self)
        return name.lowercased().contains("hook") || redaction.hides(label: name)
    }

    private func isAuthority(_ segment: Bytes, in bytes: Bytes) -> Bool {
        let start = segment.startIndex
        return start >= bytes.startIndex + 2 && bytes[start - 1] == UInt8(ascii: "/")
            && bytes[start - 2] == UInt8(ascii: "/")
    }

    /// Returns the start of the authority of a URL, or `nil` if it has none.
    private static func authority(in bytes: Bytes) -> Int? {
        let slash = UInt8(ascii: "/")
        return bytes.indices.dropLast().first { bytes[$0] == slash && bytes[$0 + 1] == slash }.map { $0 + 2 }
    }
}
