public import Foundation

/// Whom a transport trusts and how it identifies itself, over TLS.
///
/// Certificates and host names are always checked; there is no switch to turn that off. What a transport cannot do is
/// refused when it is created, never ignored.
public struct TLSConfiguration: Sendable, Hashable {
    /// The certificate authorities that are trusted.
    public enum TrustRoots: Sendable, Hashable {
        /// Those of the system.
        case system
        /// Those in a PEM file, instead of the system's.
        case file(URL)
        /// Those in PEM data, instead of the system's.
        case pem(Data)
    }

    /// A version of the protocol.
    public enum Version: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// TLS 1.2 (RFC 5246).
        case tls12 = 12
        /// TLS 1.3 (RFC 8446).
        case tls13 = 13

        /// Whether `left` is older than `right`.
        public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
    }

    /// Certificate and key with which the client identifies itself.
    public struct ClientIdentity: Sendable, Hashable {
        /// The certificate, with its chain if it has one, in PEM.
        public var certificate: Source
        /// The private key, in PEM.
        public var privateKey: Source
        /// The password of the key; `nil` when it has none.
        public var password: String?

        /// Where PEM text comes from.
        public enum Source: Sendable, Hashable {
            /// A file.
            case file(URL)
            /// Data in memory.
            case pem(Data)
        }

        /// Creates an identity.
        public init(certificate: Source, privateKey: Source, password: String? = nil) {
            self.certificate = certificate
            self.privateKey = privateKey
            self.password = password
        }
    }

    /// How certificates are found to have been revoked.
    public enum Revocation: Sendable, Hashable {
        /// As the system does by itself: on Apple systems with what it knows, on Linux not at all.
        case system
        /// By the lists in a PEM file, of every authority in the chain (RFC 5280 section 5).
        case list(URL)
        /// By what the server brings along, without which it is refused (OCSP stapling, RFC 6066 section 8).
        case stapled
    }

    /// The authorities that are trusted; those of the system by default.
    public var trustRoots: TrustRoots
    /// How revoked certificates are found; the system's way by default.
    public var revocation = Revocation.system
    /// The pins of which the server's chain must have one, beside the usual checks; empty by default, which pins nothing.
    ///
    /// Name a spare one as well, so that the server can change its key. On Linux the whole chain is seen where libcurl
    /// stands on OpenSSL 1.1 or newer, as it mostly does. Elsewhere, and with a proxy over TLS or one that the
    /// environment names, only the key of the server's own certificate is compared, and a pin of a whole certificate is
    /// refused when the transport is made.
    public var pins: Set<TLSPin>
    /// How the client identifies itself; not at all by default.
    public var clientIdentity: ClientIdentity?
    /// The oldest version that is accepted; TLS 1.2 by default (RFC 9325 section 3.1.1).
    public var minimumVersion: Version
    /// The newest version that is offered; `nil`, the default, is the newest there is.
    public var maximumVersion: Version?

    /// Creates a configuration; by default the system's trust and nothing more.
    public init(
        trustRoots: TrustRoots = .system,
        pins: Set<TLSPin> = [],
        clientIdentity: ClientIdentity? = nil,
        minimumVersion: Version = .tls12,
        maximumVersion: Version? = nil
    ) {
        self.trustRoots = trustRoots
        self.pins = pins
        self.clientIdentity = clientIdentity
        self.minimumVersion = minimumVersion
        self.maximumVersion = maximumVersion
    }
}

extension TLSConfiguration {
    /// Refuses to send over http what is to be sent to a pinned server only.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Kind/unsupported``.
    package func check(_ url: RequestURL) throws(TransportError) {
        guard pins.isEmpty || url.isSecure else {
            let message = "the server is pinned, and http does not show who it is"
            throw TransportError(.unsupported, message: message, mayHaveBeenSent: false)
        }
    }
}

extension TLSConfiguration {
    /// What tells this configuration from every other, the same in every run; its secrets cannot be read from it.
    package var fingerprint: String {
        let parts =
            [trustRoots.text, revocation.text, "\(minimumVersion)", maximumVersion.map { "\($0)" } ?? "newest"]
            + (clientIdentity?.texts ?? ["nobody"])
            + pins.map { "\($0.subject) \($0.base64)" }.sorted()
        return MessageDigest.sha256(parts.map(\.framed).joined().utf8).hexText
    }
}

extension TLSConfiguration.TrustRoots {
    fileprivate var text: String {
        switch self {
        case .system: "system"
        case .file(let url): "file \(url.absoluteString)"
        case .pem(let data): "pem \(data.base64EncodedString())"
        }
    }
}

extension TLSConfiguration.Revocation {
    fileprivate var text: String {
        switch self {
        case .system: "system"
        case .list(let url): "list \(url.absoluteString)"
        case .stapled: "stapled"
        }
    }
}

extension TLSConfiguration.ClientIdentity {
    fileprivate var texts: [String] {
        [certificate.text, privateKey.text, password.map { "password \($0)" } ?? "no password"]
    }
}

extension TLSConfiguration.ClientIdentity.Source {
    fileprivate var text: String {
        switch self {
        case .file(let url): "file \(url.absoluteString)"
        case .pem(let data): "pem \(data.base64EncodedString())"
        }
    }
}

extension TLSConfiguration.ClientIdentity: Discreet {
    /// Where the certificate comes from, without key and password.
    public var description: String {
        switch certificate {
        case .file(let url): "identity of \(url.lastPathComponent)"
        case .pem(let data): "identity of \(data.count) bytes of PEM"
        }
    }
}
