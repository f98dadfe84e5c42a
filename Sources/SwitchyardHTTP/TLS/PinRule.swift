public import Foundation

/// The pins of which the chain of a host's certificates must have one.
///
/// They are compared after the usual checks and never instead of them. Name the key that will follow as well, so that
/// the server can change its own.
public struct PinRule: Sendable, Hashable {
    /// What happens when a host has none of the pins.
    public enum Mode: Sendable, Hashable {
        /// The connection is refused; the default.
        case enforced
        /// The connection is used all the same, and the mismatch is reported: for finding out before it hurts.
        case reportOnly
    }

    /// The hosts.
    public let hosts: HostPattern
    /// The pins.
    public let pins: Set<TLSPin>
    /// What happens when a host has none of them.
    public let mode: Mode
    /// When the rule ends, so that an app that is not updated any more goes on working; never when `nil`.
    ///
    /// From then on the hosts are checked as if nothing had been pinned.
    public let expiresAt: Date?

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - hosts: The hosts: `example.com`, `*.example.com` for one label more, `**.example.com` for the domain itself
    ///     and everything below.
    ///   - pins: At least two of them, the one in use and the one that will follow; one will do for ``Mode/reportOnly``.
    ///   - mode: What happens when a host has none of them; it is refused unless given.
    ///   - expiresAt: When the rule ends; never unless given.
    /// - Throws: ``PinRuleError``.
    public init(
        hosts: String,
        pins: Set<TLSPin>,
        mode: Mode = .enforced,
        expiresAt: Date? = nil
    ) throws(PinRuleError) {
        guard let pattern = HostPattern(hosts) else { throw .invalidPattern(hosts) }
        guard !pins.isEmpty else { throw .noPins(hosts) }
        guard pins.count > 1 || mode == .reportOnly else { throw .noBackup(hosts) }
        self.hosts = pattern
        self.pins = pins
        self.mode = mode
        self.expiresAt = expiresAt
    }

    /// Whether the rule holds at a time.
    package func isValid(at date: Date) -> Bool {
        expiresAt.map { date < $0 } ?? true
    }
}

/// Why a set of pins cannot be used.
public enum PinRuleError: Error, Sendable, Hashable {
    /// The pattern is no host, or has a star elsewhere than in front.
    case invalidPattern(String)
    /// A rule without a pin would refuse everybody.
    case noPins(String)
    /// A rule with one pin would lock the app out when the key behind it is lost.
    case noBackup(String)
    /// The file or data holds no certificate.
    case noCertificate
    /// The base URL of a server whose host is pinned is not https, where nothing can be pinned.
    case insecureBase(String)
    /// The transport cannot do it.
    case transport(TransportError)
}

extension PinRuleError: CustomStringConvertible {
    /// What is wrong, without queries and passwords.
    public var description: String {
        switch self {
        case .invalidPattern(let text): "\"\(text)\" is no pattern of hosts"
        case .noPins(let hosts): "the rule for \(hosts) has no pin"
        case .noBackup(let hosts): "the rule for \(hosts) has one pin, and none that could follow"
        case .noCertificate: "there is no certificate"
        case .insecureBase(let url): "\(Redaction.place(url)) is pinned, and not https"
        case .transport(let error): error.description
        }
    }
}

/// Which hosts a rule is for: one, those one label below a domain, or a domain and everything below.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    private enum Reach: Hashable {
        case exact
        case oneLabel
        case all
    }

    private let domain: String
    private let reach: Reach

    /// Creates a pattern; `nil` when it is no host name, or has a star elsewhere than in front.
    ///
    /// A name beyond ASCII, such as `*.bücher.example`, is for the hosts that go by its ASCII form (RFC 5891).
    public init?(_ text: String) {
        switch text {
        case _ where text.hasPrefix("**."): (reach, domain) = (.all, Self.name(of: text.dropFirst(3)))
        case _ where text.hasPrefix("*."): (reach, domain) = (.oneLabel, Self.name(of: text.dropFirst(2)))
        default: (reach, domain) = (.exact, Self.name(of: text[...]))
        }
        guard !domain.contains("*"), RequestURL("https://\(domain)/")?.origin.host == domain else { return nil }
        // No host has an empty label, as in `.example.com`: the rule would be for none.
        guard domain.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }) else {
            return nil
        }
        // A star over a whole top-level domain is never meant.
        guard reach == .exact || domain.contains(".") else { return nil }
    }

    /// Whether the pattern covers a host.
    public func matches(_ host: String) -> Bool {
        let host = Self.name(of: host[...])
        switch reach {
        case .exact: return host == domain
        case .oneLabel: return host.hasSuffix(".\(domain)") && !host.dropLast(domain.count + 1).contains(".")
        case .all: return host == domain || host.hasSuffix(".\(domain)")
        }
    }

    /// The host as requests name it: in lower case and in ASCII, without the dot of the root at its end, since with and
    /// without it is the same host.
    private static func name(of host: Substring) -> String {
        var name = host.lowercased()
        if name.utf8.contains(where: { $0 > 0x7F }), !name.contains(where: { "*/\\:?#@%".contains($0) }) {
            name = RequestURL("https://\(name)/")?.origin.host ?? name
        }
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// The pattern as it was given, in lower case and in ASCII.
    public var description: String {
        switch reach {
        case .exact: domain
        case .oneLabel: "*.\(domain)"
        case .all: "**.\(domain)"
        }
    }
}
