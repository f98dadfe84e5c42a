import Foundation
import SwitchyardServices

/// The authority of a URL, checked: `user@host:port`.
package struct URLAuthority {
    /// What stands before `@`, percent-encoded; `nil` when there is none.
    package var userInfo: [UInt8]?
    /// The host as it is sent: in ASCII, an IPv6 address in its brackets, with its zone if it has one (RFC 6874).
    var host: [UInt8]
    /// The port, when one is given.
    var port: Int?

    /// Checks the bytes of an authority.
    ///
    /// - Throws: ``RequestError/URLReason/invalidHost`` or ``RequestError/URLReason/invalidPort`` about `text`.
    init(_ bytes: ArraySlice<UInt8>, in text: String) throws(RequestError) {
        var rest = bytes
        // A backslash is a slash to some parsers: with it, two readers of one URL may see two hosts.
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

    /// `user@host:port`.
    var bytes: [UInt8] {
        (userInfo.map { $0 + [UInt8(ascii: "@")] } ?? []) + host + (port.map { Array(":\($0)".utf8) } ?? [])
    }
}
