package import Foundation

/// Certificates in text form (RFC 7468).
package enum PEM {
    /// Returns the certificates in binary form, in order.
    ///
    /// Invalid certificates are skipped.
    package static func certificates(in pem: Data) -> [Data] {
        let begin = "-----BEGIN CERTIFICATE-----"
        let end = "-----END CERTIFICATE-----"
        let text = String(decoding: pem, as: UTF8.self)
        return text.components(separatedBy: begin).dropFirst().compactMap { part in
            guard let body = part.components(separatedBy: end).first, body.count < part.count else { return nil }
            return Data(base64Encoded: body, options: .ignoreUnknownCharacters)
        }
    }
}

/// A reader of the binary form of a certificate (DER, X.690).
enum DistinguishedEncoding {
    /// Returns the complete SubjectPublicKeyInfo of a certificate (RFC 5280 section 4.1).
    ///
    /// Pins are digests of it.
    ///
    /// Returns `nil` if the bytes are not a certificate.
    static func publicKeyInfo(inCertificate certificate: Data) -> Data? {
        let bytes = Array(certificate)
        guard let outer = element(bytes, at: 0, end: bytes.count, tag: 0x30),
            let body = element(bytes, at: outer.content, end: outer.end, tag: 0x30)
        else { return nil }
        var position = body.content
        // Skip the optional version, then serial number, algorithm, issuer, validity and subject.
        if position < body.end, bytes[position] == 0xA0 {
            guard let version = element(bytes, at: position, end: body.end, tag: 0xA0) else { return nil }
            position = version.end
        }
        for _ in 0..<5 {
            guard let skipped = element(bytes, at: position, end: body.end, tag: nil) else { return nil }
            position = skipped.end
        }
        guard let key = element(bytes, at: position, end: body.end, tag: 0x30) else { return nil }
        return Data(bytes[position..<key.end])
    }

    /// Reads the tag and length of an element.
    ///
    /// Returns `nil` if the tag differs or the element exceeds `end`.
    private static func element(
        _ bytes: [UInt8],
        at position: Int,
        end: Int,
        tag: UInt8?
    ) -> (content: Int, end: Int)? {
        guard position + 2 <= end, tag == nil || bytes[position] == tag else { return nil }
        let first = Int(bytes[position + 1])
        var content = position + 2
        var length = first
        if first >= 0x80 {
            let count = first & 0x7F
            guard count >= 1, count <= 4, content + count <= end else { return nil }
            length = bytes[content..<content + count].reduce(0) { $0 << 8 | Int($1) }
            content += count
        }
        guard length <= end - content else { return nil }
        return (content, content + length)
    }
}
