import Foundation
import SwitchyardFixtures
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP
@testable import SwitchyardTransfers

/// Digests in the forms that servers and catalogs use.
@Suite struct ContentDigestTests {
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test func `hexadecimal text of a digest is parsed in lowercase and uppercase`() throws {
        let digest = try #require(ContentDigest(.sha256, hexText: Self.empty))

        #expect(digest.bytes == MessageDigest.sha256([]))
        #expect(ContentDigest(.sha256, hexText: Self.empty.uppercased()) == digest)
        #expect(digest.description == "sha-256 \(Self.empty)")
    }

    @Test func `base64 text of a digest is parsed as in Content-MD5`() throws {
        // The example of RFC 1864 section 2, whose input the RFC does not give.
        let digest = try #require(ContentDigest(.md5, base64Text: "Q2hlY2sgSW50ZWdyaXR5IQ=="))

        #expect(digest.bytes == Data("Check Integrity!".utf8))
    }

    @Test(arguments: [
        "", "e3b0", empty + "00", String(empty.dropLast()) + "g", " " + empty, "d41d8cd98f00b204e9800998ecf8427e",
    ])
    func `text that is not a digest of the algorithm is rejected`(text: String) {
        #expect(ContentDigest(.sha256, hexText: text) == nil)
        #expect(ContentDigest(.sha256, base64Text: text) == nil)
    }

    @Test func `a digest with a wrong length is rejected`() {
        #expect(ContentDigest(.md5, bytes: Data(count: 32)) == nil)
        #expect(ContentDigest(.sha256, bytes: Data(count: 16)) == nil)
    }

    // RFC 9530 appendix B.1: the representation is the JSON text with a line feed.
    @Test func `the digest's field value matches RFC 9530`() throws {
        let bytes = MessageDigest.sha256(Data("{\"hello\": \"world\"}\n".utf8))
        let digest = try #require(ContentDigest(.sha256, bytes: bytes))

        #expect(digest.fieldValue == "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:")
    }

    @Test(arguments: ContentDigest.Algorithm.allCases, [1, 63, 64, 65, 1000, 5000])
    func `a digest does not depend on how its input is divided into chunks`(
        algorithm: ContentDigest.Algorithm,
        size: Int
    ) {
        let bytes = DownloadLab.bytes(5000)
        var digest = RunningDigest(algorithm.core)

        for start in stride(from: 0, to: bytes.count, by: size) { digest.update(bytes.dropFirst(start).prefix(size)) }

        #expect(digest.count == 5000)
        #expect(digest.bytes == (algorithm == .sha256 ? MessageDigest.sha256(bytes) : MessageDigest.md5(bytes)))
    }
}
