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
    ///
    /// Two problems are equal if they are of the same kind.
    public struct Problem: Error, Sendable {
        private enum Kind: Hashable {
            case malformed, scheme, host, tail, credentials
        }

        private let kind: Kind
        /// What was expected, in words.
        public private(set) var rawValue: String
        /// The text that was found, without user, password and query; `nil` if it is not known.
        public private(set) var found: String?

        /// The text is not a URL.
        public static let malformed = Problem(kind: .malformed, rawValue: "a URL")
        /// The scheme is missing, or neither http nor https.
        public static let scheme = Problem(kind: .scheme, rawValue: "a URL with the scheme http or https")
        /// There is no host.
        public static let host = Problem(kind: .host, rawValue: "a URL with a host")
        /// There is a query or a fragment, which no path could follow.
        public static let tail = Problem(kind: .tail, rawValue: "a URL without query and fragment")
        /// There is a user name or a password, which would end up in logs.
        public static let credentials = Problem(kind: .credentials, rawValue: "a URL without user name and password")

        /// The port is 0 or above 65,535: a malformed URL.
        fileprivate static func port(_ port: Int) -> Problem {
            var problem = malformed
            problem.rawValue = "a URL with a port from 1 to 65535"
            if port == 0 { problem.rawValue += " (a LoopbackServer has its port after start())" }
            return problem
        }

        /// The problem with the text that has it.
        fileprivate func of(_ text: String) -> Problem {
            var problem = self
            problem.found = ServerURL.shown(text)
            return problem
        }
    }

    /// Creates a base URL from text.
    ///
    /// - Parameter text: The URL, percent-encoded but for the host, which may be a name in any script.
    /// - Throws: What is wrong with it.
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

    /// A URL as an error shows it, which is safe to log: without user, password and query, and at most 200 characters.
    static func shown(_ url: String) -> String {
        let plain = url.replacing(/\/\/.*@/.dotMatchesNewlines(), with: "//***@")
        guard let mark = plain.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return String(plain.prefix(200)) }
        return "\(plain[...mark].prefix(200))***"
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

extension ServerURL.Problem: Hashable {
    /// Whether both are of the same kind.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
}

extension ServerURL.Problem: CaseIterable {
    /// All kinds of problems.
    public static let allCases: [Self] = [.malformed, .scheme, .host, .tail, .credentials]
}

extension ServerURL.Problem: CustomStringConvertible {
    /// What was expected, and what was found.
    public var description: String { "expected \(rawValue)" + (found.map { ", found \"\($0)\"" } ?? "") }
}
