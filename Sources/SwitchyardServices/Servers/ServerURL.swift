public import Foundation

/// The base URL of a server: absolute, http or https, with a host, without query, fragment and credentials.
///
/// It is checked once, when it is made, so that building a request from it cannot fail.
public struct ServerURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL as it was given, but for a host in another script, which stands in its ASCII form (RFC 5891).
    public let text: String
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case and in ASCII; an IPv6 address stands without its brackets.
    public let host: String
    /// The port that the text names; `nil` stands for the scheme's own.
    public let port: Int?

    /// Why a text is not the base URL of a server.
    public enum Problem: String, Error, Hashable, CaseIterable {
        /// The text is not a URL.
        case malformed = "a URL"
        /// The scheme is missing, or neither http nor https.
        case scheme = "a URL with the scheme http or https"
        /// There is no host.
        case host = "a URL with a host"
        /// There is a query or a fragment, which no path could follow.
        case tail = "a URL without query and fragment"
        /// There is a user name or a password, which would end up in logs.
        case credentials = "a URL without user name and password"
    }

    /// Creates a base URL from text.
    ///
    /// - Parameter text: The URL, percent-encoded but for the host, which may be a name in any script.
    /// - Throws: What is wrong with it.
    public init(_ text: String) throws(Problem) {
        let text = Self.withASCIIHost(text) ?? text
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isPlain, let parts = URLComponents(string: text) else { throw .malformed }
        guard let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https" else { throw .scheme }
        guard let host = parts.encodedHost, !host.isEmpty, host != "[]" else { throw .host }
        guard parts.query == nil, parts.fragment == nil else { throw .tail }
        guard parts.user == nil, parts.password == nil else { throw .credentials }
        guard Self.canBeAsked(parts.encodedHost ?? "") else { throw .malformed }
        if let port = parts.port, !(1...65_535).contains(port) { throw .malformed }
        self.text = text
        self.scheme = scheme
        self.host = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        port = parts.port
    }

    /// The URL with a host beyond ASCII in its ASCII form; `nil` when it has none.
    private static func withASCIIHost(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.contains(where: { $0 > 127 }), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let authority = bytes[(colon + 3)...].prefix { !"/?#".utf8.contains($0) }
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex
        let host = authority[start...].prefix { $0 != UInt8(ascii: ":") }
        guard let ascii = HostName.ascii(host) else { return nil }
        return String(decoding: bytes[..<start] + ascii + bytes[host.endIndex...], as: UTF8.self)
    }

    /// Whether a host is a name or an address that every reader takes for the same.
    private static func canBeAsked(_ host: String) -> Bool {
        let bytes = Array(host.utf8)[...]
        if bytes.first == UInt8(ascii: "[") { return IPv6Address.isValid(bytes) }
        return !bytes.contains(UInt8(ascii: "%")) && IPv4Address.isPlausible(bytes)
    }

    /// The URL as Foundation's type.
    public var foundationURL: URL? { URL(string: text) }

    /// The same as ``text``.
    public var description: String { text }
}

extension ServerURL.Problem: CustomStringConvertible {
    /// What was expected.
    public var description: String { "expected \(rawValue)" }
}
