import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@Suite struct MessageDigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 produces the known digests of its test texts`(text: String, expected: String) {
        #expect(MessageDigest.sha256(text.utf8).hexText == expected)
    }

    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a"
        ),
    ])
    func `MD5 produces the digests that RFC 1321 lists`(text: String, expected: String) {
        #expect(MessageDigest.md5(text.utf8).hexText == expected)
    }

    @Test(arguments: [54, 55, 56, 57, 63, 64, 65, 119, 120, 128])
    func `a digest of a file in chunks equals the digest of the whole`(length: Int) throws {
        let folder = try MultipartFormTests.Folder()
        let bytes = Data((0..<length).map { UInt8(truncatingIfNeeded: $0) })
        let file = try folder.file("f", bytes)

        #expect(try MessageDigest.sha256(ofFile: file) == MessageDigest.sha256(bytes))
        #expect(try MessageDigest.md5(ofFile: file) == MessageDigest.md5(bytes))
    }

    @Test(arguments: [
        (
            Data(repeating: 0x0b, count: 20), Data("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Data("Jefe".utf8), Data("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Data(repeating: 0xaa, count: 131), Data("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `HMAC gives the codes of RFC 4231`(key: Data, message: Data, expected: String) {
        #expect(MessageDigest.hmacSHA256(message, key: key).hexText == expected)
    }

    @Test(arguments: [
        (63, "62ace2f3e3d51364d1f1caac6313db25b4de185ea942281b00a35f4c4f03ccd0"),
        (64, "6117f44d3e99fd884a6c9dc786e91e812c2a7b1c6240231edfcfe60343ff61cb"),
        (65, "88d81ab6f6f7dd8671c038c63fff879a74aa747f0ce7ff496b867eb554419e73"),
    ])
    func `HMAC hashes only keys that are longer than one block`(
        length: Int,
        expected: String
    ) {
        let key = Data(repeating: UInt8(ascii: "a"), count: length)

        #expect(MessageDigest.hmacSHA256(Data("message".utf8), key: key).hexText == expected)
    }
}
