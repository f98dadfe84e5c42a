public import Foundation

/// The trusted authorities, the pins and the client identity of a transport's TLS connections.
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
        /// The form of the certificate and the key.
        package enum Form: Sendable, Hashable {
            /// A certificate and a private key in PEM. The certificate may be followed by its chain.
            case pem(certificate: Source, privateKey: Source)
            /// PKCS 12 data.
            case pkcs12(Data)
            /// An identity in the keychain with this label.
            case keychain(label: String)
        }

        /// The certificate and the key.
        package var form: Form
        /// The password of the private key or of the PKCS 12 data, or `nil` if there is none.
        public var password: String?

        /// A source of PEM text.
        public enum Source: Sendable, Hashable {
            /// A file.
            case file(URL)
            /// Data in memory.
            case pem(Data)
        }

        /// Creates an identity from a certificate, optionally with its chain, and a private key, both in PEM.
        ///
        /// `CurlTransport` accepts it. `URLSessionTransport` refuses it.
        public init(certificate: Source, privateKey: Source, password: String? = nil) {
            form = .pem(certificate: certificate, privateKey: privateKey)
            self.password = password
        }

        /// Creates an identity from the content of a PKCS 12 file (RFC 7292), which ends in `.p12` or `.pfx`.
        ///
        /// `CurlTransport` and, on Apple systems, `URLSessionTransport` accept it. Before macOS 15, macOS adds the
        /// identity to the user's default keychain.
        public init(pkcs12: Data, password: String) {
            form = .pkcs12(pkcs12)
            self.password = password
        }

        /// Creates an identity from the certificate and private key with this label in the keychain.
        ///
        /// `URLSessionTransport` accepts it on Apple systems. `CurlTransport` refuses it.
        public init(keychainLabel: String) {
            form = .keychain(label: keychainLabel)
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
    /// - Throws: ``TransportError`` with ``/SwitchyardServices/WireFailure/unsupported``.
    package func check(_ url: RequestURL) throws(TransportError) {
        guard pins.isEmpty || url.isSecure else {
            let message = "the server has pinned keys, which http cannot check: the URL must use https"
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
        let password = password.map { "password \($0)" } ?? "no password"
        return switch form {
        case .pem(let certificate, let privateKey): [certificate.text, privateKey.text, password]
        case .pkcs12(let data): ["pkcs12 \(data.base64EncodedString())", password]
        case .keychain(let label): ["keychain \(label)", password]
        }
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
        switch form {
        case .pem(.file(let url), _): "identity of \(url.lastPathComponent)"
        case .pem(.pem(let data), _): "identity from \(data.count) bytes of PEM data"
        case .pkcs12(let data): "identity from \(data.count) bytes of PKCS #12 data"
        case .keychain(let label): "identity \(label) of the keychain"
        }
    }
}
