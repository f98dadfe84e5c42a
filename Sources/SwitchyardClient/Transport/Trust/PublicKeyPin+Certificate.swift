public import Foundation

extension PublicKeyPin {
    /// Makes the pin of a certificate's public key; `nil` when the bytes are no certificate.
    ///
    /// A certificate that is renewed with the same key keeps its pin.
    ///
    /// - Parameter certificate: The certificate, binary (DER, usually `.cer`) or as text (PEM).
    public init?(certificate: Data) {
        let binary = PEM.certificates(in: certificate).first ?? certificate
        guard let key = DistinguishedEncoding.publicKeyInfo(inCertificate: binary) else { return nil }
        self.init(Digest.sha256(key).base64EncodedString())
    }

    /// The pins of all certificates in a folder, those with the endings `cer`, `crt`, `der` and `pem`.
    ///
    /// - Parameter folder: The folder, for instance that of the app's resources.
    /// - Returns: The pins; never none.
    /// - Throws: ``PinRuleError/noCertificate`` when the folder has none, or one of the files is none.
    public static func certificates(in folder: URL) throws(PinRuleError) -> Set<PublicKeyPin> {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        var pins: Set<PublicKeyPin> = []
        for file in files where ["cer", "crt", "der", "pem"].contains(file.pathExtension.lowercased()) {
            guard let data = try? Data(contentsOf: file), let pin = PublicKeyPin(certificate: data) else {
                throw .noCertificate
            }
            pins.insert(pin)
        }
        guard !pins.isEmpty else { throw .noCertificate }
        return pins
    }
}
