public import Foundation

/// A rule by which the certificate chain of a host must match one of the pins.
///
/// Pins are compared after the usual checks and never replace them. Include the pin of the next key, so that the server
/// can change its key.
public struct PinRule: Sendable, Hashable {
    /// The effect of a certificate chain that matches none of the pins.
    public enum Mode: Sendable, Hashable {
        /// The connection is refused.
        ///
        /// This is the default.
        case enforced
        /// The connection is used, and the mismatch is reported.
        ///
        /// Use this mode to test pins before enforcing them.
        case reportOnly
    }

    /// The hosts of the rule.
    package let hosts: HostPattern
    /// The pins, one of which must match.
    public let pins: Set<TLSPin>
    /// The effect of a certificate chain that matches none of the pins.
    public let mode: Mode
    /// The expiry date of the rule.
    ///
    /// If `nil`, the rule does not expire. After this date the hosts are checked as if nothing were pinned, so that an
    /// app without updates continues to work.
    public let expiresAt: Date?

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - hosts: The hosts: `example.com`, `*.example.com` for exactly one more label, or `**.example.com` for the
    ///     domain and all of its subdomains.
    ///   - pins: At least two pins: a pin of the current key, and a pin of the next key. For ``Mode/reportOnly``, a
    ///     single pin is enough.
    ///   - mode: The effect of a mismatch; by default the connection is refused.
    ///   - expiresAt: The expiry date of the rule. If `nil`, the rule does not expire.
    /// - Throws: ``PinRule/Problem``.
    public init(
        hosts: String,
        pins: Set<TLSPin>,
        mode: Mode = .enforced,
        expiresAt: Date? = nil
    ) throws(PinRule.Problem) {
        guard let pattern = HostPattern(hosts) else { throw .invalidPattern(hosts) }
        guard !pins.isEmpty else { throw .noPins(hosts) }
        guard pins.count > 1 || mode == .reportOnly else { throw .noBackup(hosts) }
        self.hosts = pattern
        self.pins = pins
        self.mode = mode
        self.expiresAt = expiresAt
    }

    /// Whether the rule is in effect at a given time.
    package func isValid(at date: Date) -> Bool {
        expiresAt.map { date < $0 } ?? true
    }
}

extension PinRule {
    /// An error that makes a set of pins unusable.
    public enum Problem: Error, Sendable, Hashable {
        /// The pattern is not a host name, or has an asterisk that is not at its start.
        case invalidPattern(String)
        /// The rule has no pin, so it would refuse every server.
        case noPins(String)
        /// The rule has only one pin, so the app could no longer connect if the server lost the key for this pin.
        case noBackup(String)
        /// The file or folder at this path does not contain a certificate.
        case noCertificate(path: String)
        /// The base URL of a server with a pinned host uses HTTP, where pins have no effect.
        case insecureBase(String)
        /// The transport does not support pins.
        case transport(TransportError)
    }
}

extension PinRule.Problem: CustomStringConvertible {
    /// A description of the error, without queries and passwords.
    public var description: String {
        switch self {
        case .invalidPattern(let text): "\"\(text)\" is not a valid host pattern: must be a host, *.domain or **.domain"
        case .noPins(let hosts): "the pin rule for \(hosts) has no pin: must have a pin and a backup pin"
        case .noBackup(let hosts): "the pin rule for \(hosts) has only one pin; add a backup pin"
        case .noCertificate(let path):
            "\(path) contains no certificate: must be a certificate file (DER or PEM), or a folder of such files with "
                + "the extension cer, crt, der or pem"
        case .insecureBase(let url): "the host of \(Redaction.place(url)) is pinned: the URL must use https"
        case .transport(let error): error.description
        }
    }
}

/// A pattern that matches one host, the hosts one label below a domain, or a domain and all of its subdomains.
package struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    private enum Reach: Hashable {
        case exact
        case oneLabel
        case all
    }

    private let domain: String
    private let reach: Reach

    /// Creates a pattern, or returns `nil` if the text is not a host name, or has an asterisk in a place other than the
    /// start.
    ///
    /// A non-ASCII name such as `*.bücher.example` matches hosts in its ASCII form (RFC 5891).
    package init?(_ text: String) {
        switch text {
        case _ where text.hasPrefix("**."): (reach, domain) = (.all, Self.name(of: text.dropFirst(3)))
        case _ where text.hasPrefix("*."): (reach, domain) = (.oneLabel, Self.name(of: text.dropFirst(2)))
        default: (reach, domain) = (.exact, Self.name(of: text[...]))
        }
        guard !domain.contains("*"), RequestURL("https://\(domain)/")?.origin.host == domain else { return nil }
        // No host has an empty label, as in `.example.com`, so the pattern would match nothing.
        guard domain.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }) else {
            return nil
        }
        // A wildcard for a whole top-level domain is certainly a mistake.
        guard reach == .exact || domain.contains(".") else { return nil }
    }

    /// Whether the pattern matches a host.
    package func matches(_ host: String) -> Bool {
        let host = Self.name(of: host[...])
        switch reach {
        case .exact: return host == domain
        case .oneLabel: return host.hasSuffix(".\(domain)") && !host.dropLast(domain.count + 1).contains(".")
        case .all: return host == domain || host.hasSuffix(".\(domain)")
        }
    }

    /// Returns the host as in URLs: in lower case and in ASCII.
    ///
    /// The trailing dot of the root is removed, because both forms name the same host.
    private static func name(of host: Substring) -> String {
        var name = host.lowercased()
        if name.utf8.contains(where: { $0 > 0x7F }), !name.contains(where: { "*/\\:?#@%".contains($0) }) {
            name = RequestURL("https://\(name)/")?.origin.host ?? name
        }
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// The pattern in lower case and in ASCII.
    package var description: String {
        switch reach {
        case .exact: domain
        case .oneLabel: "*.\(domain)"
        case .all: "**.\(domain)"
        }
    }
}
