import Foundation
import SwitchyardServices

/// The validated authority of a URL: `user@host:port`.
package struct URLAuthority {
    /// The percent-encoded text before `@`, or `nil` if there is none.
    package var userInfo: [UInt8]?
    /// The host in the form in which it is sent: a name in ASCII, or an IPv6 address in brackets, with its zone if the
    /// URL contains one (RFC 6874).
    var host: [UInt8]
    /// The explicit port, or `nil` if there is none.
    var port: Int?

    /// Validates the bytes of an authority.
    ///
    /// - Throws: ``RequestError/URLReason/invalidHost`` or ``RequestError/URLReason/invalidPort`` with `text`.
    init(_ bytes: ArraySlice<UInt8>, in text: String) throws(RequestError) {
        var rest = bytes
        // Some parsers treat a backslash as a slash, so two parsers could find different hosts in one URL.
        guard !rest.contains(UInt8(ascii: "\\")) else { throw .url(text: text, reason: .invalidHost) }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            var encoded: [UInt8] = []
            PercentEncoding.append(rest[..<at], allowed: Self.userInfoCharacters, keepingEscapes: true, to: &encoded)
            userInfo = encoded
            rest = rest[(at + 1)...]
        }
        let hostEnd = Self.hostEnd(rest)
        port = try Self.port(rest[hostEnd...], in: text)
        host = try Self.host(rest[..<hostEnd], in: text)
    }

    private static let userInfoCharacters = URLCharacters.pathSegment.subtracting(URLCharacters("@"))

    private static func hostEnd(_ bytes: ArraySlice<UInt8>) -> Int {
        let colon = bytes.lastIndex(of: UInt8(ascii: ":"))
        guard bytes.first == UInt8(ascii: "[") else { return colon ?? bytes.endIndex }
        guard let close = bytes.lastIndex(of: UInt8(ascii: "]")) else { return bytes.endIndex }
        return close + 1
    }

    private static func port(_ bytes: ArraySlice<UInt8>, in text: String) throws(RequestError) -> Int? {
        guard let first = bytes.first else { return nil }
        let digits = bytes.dropFirst()
        guard first == UInt8(ascii: ":"), digits.allSatisfy(\.isDigit) else {
            throw .url(text: text, reason: .invalidPort)
        }
        guard !digits.isEmpty else { return nil }
        guard let value = Int(String(decoding: digits, as: UTF8.self)), value <= 65_535 else {
            throw .url(text: text, reason: .invalidPort)
        }
        return value
    }

    private static func host(_ bytes: ArraySlice<UInt8>, in text: String) throws(RequestError) -> [UInt8] {
        guard let first = bytes.first else { throw .url(text: text, reason: .invalidHost) }
        if first == UInt8(ascii: "[") {
            guard IPv6Address.isValid(bytes, allowsZone: true) else { throw .url(text: text, reason: .invalidHost) }
            return Array(bytes)
        }
        if bytes.allSatisfy(HostName.isNameByte) {
            guard IPv4Address.isPlausible(bytes) else { throw .url(text: text, reason: .invalidHost) }
            return Array(bytes)
        }
        guard let host = HostName.ascii(bytes) else { throw .url(text: text, reason: .invalidHost) }
        return host
    }

    /// The authority as `user@host:port`.
    var bytes: [UInt8] {
        (userInfo.map { $0 + [UInt8(ascii: "@")] } ?? []) + host + (port.map { Array(":\($0)".utf8) } ?? [])
    }
}
