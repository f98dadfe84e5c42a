import Foundation
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP

/// The public key is found in a certificate, because pins are computed from it.
@Suite struct CertificateEncodingTests {
    /// Made with openssl: a P-256 certificate, and its key as `openssl x509 -pubkey` prints it.
    static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIBgzCCASmgAwIBAgIUeUrzokuMkGXPSw/JfM6JdvtL7iIwCgYIKoZIzj0EAwIw
        FjEUMBIGA1UEAwwLcGluLmV4YW1wbGUwIBcNMjYxMTIxMDQxMjU1WhgPMjEyNjEw
        MjgwNDEyNTVaMBYxFDASBgNVBAMMC3Bpbi5leGFtcGxlMFkwEwYHKoZIzj0CAQYI
        KoZIzj0DAQcDQgAEkNfK1KpgjKq/yjid19Vv6kqwB/5JKUbIJzN32V/SfmH2+HOY
        l/2erS4yjFIKNipF1oQW9luC8aPzl4WCN/azz6NTMFEwHQYDVR0OBBYEFLUBB5gR
        MZbypXgVNzCOpNzXQVhmMB8GA1UdIwQYMBaAFLUBB5gRMZbypXgVNzCOpNzXQVhm
        MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAJ4SagaIiwlZCWTV
        Gq0JT15r0Kcyu/uTEwFrqrHojtI5AiAKX9Fb7xOxDWXsKO+NFka8bs0JGBXwoKuQ
        WMdo7pw/uA==
        -----END CERTIFICATE-----
        """
    static let key =
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEkNfK1KpgjKq/yjid19Vv6kqwB/5JKUbIJzN32V/SfmH2+HOYl/2erS4yjFIKNipF1oQW9luC8aPzl4WCN/azzw=="

    @Test func `the public key of a certificate equals the key that openssl reads`() throws {
        let certificate = try #require(PEM.certificates(in: Data(Self.pem.utf8)).first)

        let key = DistinguishedEncoding.publicKeyInfo(inCertificate: certificate)

        #expect(key?.base64EncodedString() == Self.key)
    }

    @Test func `invalid certificate data gives no public key`() throws {
        let certificate = try #require(PEM.certificates(in: Data(Self.pem.utf8)).first)

        for count in 0..<certificate.count - 1 {
            _ = DistinguishedEncoding.publicKeyInfo(inCertificate: certificate.prefix(count))
        }
        #expect(DistinguishedEncoding.publicKeyInfo(inCertificate: Data()) == nil)
        #expect(DistinguishedEncoding.publicKeyInfo(inCertificate: Data([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF])) == nil)
        #expect(DistinguishedEncoding.publicKeyInfo(inCertificate: Data(repeating: 0x30, count: 64)) == nil)
    }

    @Test func `all certificates of a PEM file are read`() {
        let both = Self.pem + "\nsome text between\n" + Self.pem + "\n"

        #expect(PEM.certificates(in: Data(both.utf8)).count == 2)
        #expect(PEM.certificates(in: Data("-----BEGIN CERTIFICATE-----\nAAAA".utf8)).isEmpty)
    }
}
