package import Foundation

/// The base URL of a server: an absolute http or https URL with a host, and without query, fragment and credentials.
///
/// The URL is validated when it is created, so building a request from it cannot fail.
public struct ServerURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL as given, except that an internationalized host name is in its ASCII form (RFC 5891).
    public let text: String
    /// The scheme, `http` or `https`.
    public let scheme: String
    /// The host in lowercase ASCII; an IPv6 address has no brackets.
    public let host: String
    /// The port in the URL, or `nil` for the default port of the scheme.
    public let port: Int?

    /// The reason why a text is not a valid base URL of a server.
    ///
    /// Two problems are equal if they are of the same kind.
    public struct Problem: Error, Sendable {
        private enum Kind: Hashable {
            case malformed, scheme, host, tail, credentials
        }

        private let kind: Kind
        /// A description of the expected URL.
        public private(set) var rawValue: String
        /// The rejected text without user, password and query, or `nil` if it is unknown.
        public private(set) var found: String?

        /// The text is not a URL.
        public static let malformed = Problem(kind: .malformed, rawValue: "a URL")
        /// The scheme is missing, or neither http nor https.
        public static let scheme = Problem(kind: .scheme, rawValue: "a URL with the scheme http or https")
        /// There is no host.
        public static let host = Problem(kind: .host, rawValue: "a URL with a host")
        /// There is a query or a fragment, so no path can be appended.
        public static let tail = Problem(kind: .tail, rawValue: "a URL without query and fragment")
        /// There is a user name or a password, which would end up in logs.
        public static let credentials = Problem(kind: .credentials, rawValue: "a URL without user name and password")

        /// The port is 0 or above 65,535, so the URL is malformed.
        fileprivate static func port(_ port: Int) -> Problem {
            var problem = malformed
            problem.rawValue = "a URL with a port from 1 to 65535"
            if port == 0 { problem.rawValue += " (a LoopbackServer has its port after start())" }
            return problem
        }

        /// Returns the problem with the rejected text added.
        fileprivate func of(_ text: String) -> Problem {
            var problem = self
            problem.found = ServerURL.shown(text)
            return problem
        }
    }

    /// Creates a base URL from text.
    ///
    /// - Parameter text: The URL, percent-encoded except for the host, which may be an internationalized name.
    /// - Throws: The ``Problem`` with the text.
    public init(_ text: String) throws(Problem) {
        do throws(Problem) { self = try ServerURL(checking: text) } catch { throw error.of(text) }
    }

    private init(checking text: String) throws(Problem) {
        let text = Self.withASCIIHost(text) ?? text
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isPlain, let parts = URLComponents(string: text) else { throw .malformed }
        guard let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https" else { throw .scheme }
        guard let host = parts.encodedHost, !host.isEmpty, host != "[]" else { throw .host }
        guard parts.query == nil, parts.fragment == nil else { throw .tail }
        guard parts.user == nil, parts.password == nil else { throw .credentials }
        guard Self.canBeAsked(parts.encodedHost ?? "") else { throw .malformed }
        if let port = parts.port, !(1...65_535).contains(port) { throw .port(port) }
        self.text = text
        self.scheme = scheme
        self.host = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        port = parts.port
    }

    /// Returns a URL in a form that is safe to log: without user, password and query, and at most 200 characters long.
    static func shown(_ url: String) -> String {
        let plain = url.replacing(/\/\/.*@/.dotMatchesNewlines(), with: "//***@")
        guard let mark = plain.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return String(plain.prefix(200)) }
        return "\(plain[...mark].prefix(200))***"
    }

    /// Returns the URL with its internationalized host in ASCII form, or `nil` if the host is already ASCII or is
    /// invalid.
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

    /// Whether every URL parser interprets the host in the same way.
    private static func canBeAsked(_ host: String) -> Bool {
        let bytes = Array(host.utf8)[...]
        if bytes.first == UInt8(ascii: "[") { return IPv6Address.isValid(bytes) }
        return !bytes.contains(UInt8(ascii: "%")) && IPv4Address.isPlausible(bytes)
    }

    /// The URL as a Foundation `URL`.
    package var foundationURL: URL? { URL(string: text) }

    /// The text of the URL, the same as ``text``.
    public var description: String { text }
}

extension ServerURL.Problem: Hashable {
    /// Whether two problems are of the same kind.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    /// Hashes the kind of the problem.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
}

extension ServerURL.Problem: CaseIterable {
    /// One problem of each kind.
    public static let allCases: [Self] = [.malformed, .scheme, .host, .tail, .credentials]
}

extension ServerURL.Problem: CustomStringConvertible {
    /// The expected URL and, if known, the rejected text.
    public var description: String { "expected \(rawValue)" + (found.map { ", found \"\($0)\"" } ?? "") }
}
