public import Foundation

/// What one certificate of a server's chain must have: a certain public key, or every byte of a certain certificate.
///
/// The chain is the one by which the server was found trusted, from its own certificate to the authority's; any of its
/// certificates will do (RFC 7469 section 2.6). To pin an authority is to accept whatever it signs for that host.
public struct TLSPin: Sendable, Hashable {
    /// What of a certificate is compared.
    public enum Subject: Sendable, Hashable {
        /// The public key as it stands in the certificate (SubjectPublicKeyInfo, RFC 7469 section 2.4).
        ///
        /// A certificate that is renewed with the same key keeps its pin.
        case publicKey
        /// The whole certificate; one that is renewed has another pin.
        case certificate
    }

    /// What of a certificate is compared.
    public let subject: Subject
    /// Its SHA-256 digest in base64.
    public let base64: String

    /// Creates a pin; `nil` unless `base64` holds 32 bytes, with or without `sha256/` in front.
    ///
    /// - Parameters:
    ///   - base64: The SHA-256 digest.
    ///   - subject: What it is the digest of; the public key by default.
    public init?(_ base64: String, of subject: Subject = .publicKey) {
        let text = base64.hasPrefix("sha256/") ? String(base64.dropFirst(7)) : base64
        guard let digest = Data(base64Encoded: text), digest.count == 32 else { return nil }
        self.subject = subject
        // One digest has more than one text (RFC 4648 section 3.5), and pins are compared by theirs.
        self.base64 = digest.base64EncodedString()
    }

    /// Makes the pin of a certificate; `nil` when the bytes are none.
    ///
    /// - Parameters:
    ///   - certificate: The certificate, binary (DER, usually `.cer`) or as text (PEM).
    ///   - subject: What of it is pinned; its public key by default.
    public init?(certificate: Data, subject: Subject = .publicKey) {
        let binary = PEM.certificates(in: certificate).first ?? certificate
        guard let key = DistinguishedEncoding.publicKeyInfo(inCertificate: binary) else { return nil }
        self.init(MessageDigest.sha256(subject == .publicKey ? key : binary).base64EncodedString(), of: subject)
    }

    /// The pins of all certificates in a folder, those with the endings `cer`, `crt`, `der` and `pem`.
    ///
    /// - Parameters:
    ///   - folder: The folder, for instance that of the app's resources.
    ///   - subject: What of them is pinned; their public keys by default.
    /// - Returns: The pins; never none.
    /// - Throws: ``PinRuleError/noCertificate`` when the folder has none, or one of the files is none.
    public static func certificates(
        in folder: URL,
        subject: Subject = .publicKey
    ) throws(PinRuleError) -> Set<TLSPin> {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        var pins: Set<TLSPin> = []
        for file in files where ["cer", "crt", "der", "pem"].contains(file.pathExtension.lowercased()) {
            guard let data = try? Data(contentsOf: file), let pin = TLSPin(certificate: data, subject: subject) else {
                throw .noCertificate
            }
            pins.insert(pin)
        }
        guard !pins.isEmpty else { throw .noCertificate }
        return pins
    }
}

extension Set<TLSPin> {
    /// Whether a certificate (DER) has one of the pins.
    package func accept(certificate: Data) -> Bool {
        [TLSPin.Subject.publicKey, .certificate].contains { subject in
            contains { $0.subject == subject }
                && TLSPin(certificate: certificate, subject: subject).map(contains) ?? false
        }
    }
}
