public import Foundation

/// A digest that one certificate in a server's chain must match: of its public key, or of the whole certificate.
///
/// The chain is the verified chain from the server's certificate to the authority's. Any of its certificates may match
/// (RFC 7469 section 2.6). A pin of an authority accepts every certificate that the authority issues for the host.
public struct TLSPin: Sendable, Hashable {
    /// The part of a certificate that is compared.
    public enum Subject: Sendable, Hashable {
        /// The public key as encoded in the certificate (SubjectPublicKeyInfo, RFC 7469 section 2.4).
        ///
        /// A certificate that is reissued with the same key keeps its pin.
        case publicKey
        /// The whole certificate. A reissued certificate has another pin.
        case certificate
    }

    /// The part of a certificate that is compared.
    public let subject: Subject
    /// The SHA-256 digest in Base64.
    public let base64: String

    /// Creates a pin, or returns `nil` unless `base64` contains 32 bytes, optionally after the prefix `sha256/`.
    ///
    /// - Parameters:
    ///   - base64: The SHA-256 digest.
    ///   - subject: The part of the certificate that was hashed; the public key by default.
    public init?(_ base64: String, of subject: Subject = .publicKey) {
        let text = base64.hasPrefix("sha256/") ? String(base64.dropFirst(7)) : base64
        guard let digest = Data(base64Encoded: text), digest.count == 32 else { return nil }
        self.subject = subject
        // One digest can have several Base64 encodings (RFC 4648 section 3.5). Pins are compared by their Base64
        // strings, so the canonical encoding is stored.
        self.base64 = digest.base64EncodedString()
    }

    /// Creates the pin of a certificate, or returns `nil` if the bytes are not a certificate.
    ///
    /// - Parameters:
    ///   - certificate: The certificate in binary (DER, usually `.cer`) or text form (PEM).
    ///   - subject: The part of the certificate that is pinned; the public key by default.
    public init?(certificate: Data, subject: Subject = .publicKey) {
        let binary = PEM.certificates(in: certificate).first ?? certificate
        guard let key = DistinguishedEncoding.publicKeyInfo(inCertificate: binary) else { return nil }
        self.init(MessageDigest.sha256(subject == .publicKey ? key : binary).base64EncodedString(), of: subject)
    }

    /// Returns the pins of all certificates in a folder: the files with the extensions `cer`, `crt`, `der` and `pem`.
    ///
    /// - Parameters:
    ///   - folder: The folder, for instance the folder of the app's resources.
    ///   - subject: The part of each certificate that is pinned; the public key by default.
    /// - Returns: The pins, at least one.
    /// - Throws: ``PinRule/Problem/noCertificate(path:)`` with the path of the folder if it has no such file, or with the
    ///   path of the first file that is not a certificate or cannot be read.
    public static func certificates(
        in folder: URL,
        subject: Subject = .publicKey
    ) throws(PinRule.Problem) -> Set<TLSPin> {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        var pins: Set<TLSPin> = []
        for file in files.sorted(by: { $0.path < $1.path })
        where ["cer", "crt", "der", "pem"].contains(file.pathExtension.lowercased()) {
            guard let data = try? Data(contentsOf: file), let pin = TLSPin(certificate: data, subject: subject) else {
                throw .noCertificate(path: file.path)
            }
            pins.insert(pin)
        }
        guard !pins.isEmpty else { throw .noCertificate(path: folder.path) }
        return pins
    }
}

extension Set<TLSPin> {
    /// Whether a certificate (DER) matches one of the pins.
    package func accept(certificate: Data) -> Bool {
        [TLSPin.Subject.publicKey, .certificate].contains { subject in
            contains { $0.subject == subject }
                && TLSPin(certificate: certificate, subject: subject).map(contains) ?? false
        }
    }
}
