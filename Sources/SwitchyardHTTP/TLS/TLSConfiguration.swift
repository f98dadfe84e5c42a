public import Foundation

/// The trust, pins and client identity of a transport's TLS connections.
///
/// Certificates and host names are always checked, and the check cannot be turned off. If a transport does not support
/// a setting, creating the transport fails.
public struct TLSConfiguration: Sendable, Hashable {
    /// The trusted certificate authorities.
    public enum TrustRoots: Sendable, Hashable {
        /// The authorities that the system trusts.
        case system
        /// The authorities in a PEM file, instead of the system's.
        case file(URL)
        /// The authorities in PEM data, instead of the system's.
        case pem(Data)
    }

    /// A version of TLS.
    public enum Version: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// TLS 1.2 (RFC 5246).
        case tls12 = 12
        /// TLS 1.3 (RFC 8446).
        case tls13 = 13

        /// Whether `left` is older than `right`.
        public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
    }

    /// The certificate and private key of the client.
    public struct ClientIdentity: Sendable, Hashable {
        /// The certificate in PEM, optionally with its chain.
        public var certificate: Source
        /// The private key, in PEM.
        public var privateKey: Source
        /// The password of the key, or `nil` if it has none.
        public var password: String?

        /// A source of PEM text.
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

    /// The check for revoked certificates.
    public enum Revocation: Sendable, Hashable {
        /// The system's default: on Apple systems the revocation data that the system has, on Linux no check.
        case system
        /// Revocation lists in a PEM file, of every authority in the chain (RFC 5280 section 5).
        case list(URL)
        /// OCSP stapling (RFC 6066 section 8).
        ///
        /// A server that does not staple a response is refused.
        case stapled
    }

    /// The trusted certificate authorities; by default the authorities that the system trusts.
    public var trustRoots: TrustRoots
    /// The check for revoked certificates; by default the check of the system.
    public var revocation = Revocation.system
    /// The pins, one of which the server's chain must match in addition to the usual checks.
    ///
    /// If empty, which is the default, nothing is pinned. Include a backup pin, so that the server can change its key.
    /// `URLSessionTransport` compares the whole chain. On Linux the whole chain is compared if libcurl uses OpenSSL 1.1
    /// or later, which is usual. With another TLS library, a proxy over TLS, or a proxy from the environment, only the
    /// key of the server's own certificate is compared. In this case a pin of a whole certificate is refused when the
    /// transport is created.
    public var pins: Set<TLSPin>
    /// The certificate and private key of the client; if `nil`, which is the default, the client has none.
    public var clientIdentity: ClientIdentity?
    /// The oldest accepted version; TLS 1.2 by default (RFC 9325 section 3.1.1).
    public var minimumVersion: Version
    /// The newest offered version.
    ///
    /// If `nil`, which is the default, it is the newest that the transport supports.
    public var maximumVersion: Version?

    /// Creates a configuration, by default with the authorities that the system trusts, no pins and no client identity.
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
    /// Throws an error if a request to a pinned server would be sent over plain HTTP.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Kind/unsupported``.
    package func check(_ url: RequestURL) throws(TransportError) {
        guard pins.isEmpty || url.isSecure else {
            let message = "the server is pinned, but http does not authenticate it"
            throw TransportError(.unsupported, message: message, mayHaveBeenSent: false)
        }
    }
}

extension TLSConfiguration {
    /// A hash that identifies this configuration, the same in every run.
    ///
    /// Secrets cannot be recovered from it.
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

extension TLSConfiguration.ClientIdentity: RedactedDescribable {
    /// The source of the certificate, without key and password.
    public var description: String {
        switch certificate {
        case .file(let url): "identity of \(url.lastPathComponent)"
        case .pem(let data): "identity of \(data.count) bytes of PEM"
        }
    }
}
