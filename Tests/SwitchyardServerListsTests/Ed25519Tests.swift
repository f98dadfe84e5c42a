import Foundation
import Testing

@testable import SwitchyardServerLists

/// The signatures of RFC 8032, computed by the system's library.
@Suite struct Ed25519Tests {
    /// A test vector of RFC 8032 section 7.1.
    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let privateKey: String
        let publicKey: String
        let message: String
        let signature: String
    }

    static let vectors = [
        Vector(
            testDescription: "TEST 1",
            privateKey: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            message: "",
            signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        Vector(
            testDescription: "TEST 2",
            privateKey: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            message: "72",
            signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        Vector(
            testDescription: "TEST 3",
            privateKey: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            message: "af82",
            signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
        Vector(
            testDescription: "TEST SHA(abc)",
            privateKey: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            publicKey: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            message: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            signature: "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
                + "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"
        ),
    ]

    @Test(arguments: vectors)
    func `the test vectors of RFC 8032 are computed and verified`(_ vector: Vector) throws {
        let message = Data(hex: vector.message)
        let (publicKey, signature) = (Data(hex: vector.publicKey), Data(hex: vector.signature))

        #expect(try Ed25519.publicKey(of: Data(hex: vector.privateKey)) == publicKey)
        #if !canImport(CryptoKit)
            // CryptoKit adds random bytes, so its signatures differ from those of the RFC but are valid.
            #expect(try Ed25519.signature(of: message, by: Data(hex: vector.privateKey)) == signature)
        #endif
        #expect(try Ed25519.isValid(signature, of: message, by: publicKey))
    }

    @Test(arguments: vectors)
    func `a changed bit makes an Ed25519 signature invalid`(_ vector: Vector) throws {
        let message = Data(hex: vector.message) + Data([1])
        let (publicKey, signature) = (Data(hex: vector.publicKey), Data(hex: vector.signature))

        #expect(try !Ed25519.isValid(signature, of: message, by: publicKey))
        for position in [0, 31, 32, 63] {
            var changed = signature
            changed[position] ^= 1
            #expect(try !Ed25519.isValid(changed, of: Data(hex: vector.message), by: publicKey))
        }
    }

    @Test(arguments: [0, 1, 31, 33, 63, 65])
    func `an Ed25519 key or signature of the wrong size is invalid`(size: Int) throws {
        let key = Data(hex: Self.vectors[0].publicKey)

        #expect(try !Ed25519.isValid(Data(count: size), of: Data(), by: key))
        #expect(try !Ed25519.isValid(Data(hex: Self.vectors[0].signature), of: Data(), by: Data(count: size)))
        #expect(try Ed25519.publicKey(of: Data(count: size)) == nil)
        #expect(try Ed25519.signature(of: Data(), by: Data(count: size)) == nil)
    }

    @Test func `a signature that a new key creates is verified with its public key`() throws {
        let privateKey = Ed25519.newPrivateKey()
        let publicKey = try #require(try Ed25519.publicKey(of: privateKey))
        let signature = try #require(try Ed25519.signature(of: Data("list".utf8), by: privateKey))

        #expect(try Ed25519.isValid(signature, of: Data("list".utf8), by: publicKey))
        #expect(Ed25519.newPrivateKey() != privateKey)
    }

    #if !canImport(CryptoKit)
        @Test func `on a system without libcrypto, the error names the reason and a remedy`() throws {
            let failure = #expect(throws: Ed25519.Unavailable.self) {
                try LibCrypto.load(["libcrypto.so.none"]).get()
            }

            #expect(failure?.description.contains("apt-get install libssl3") == true)
        }

        @Test func `the error for a libcrypto without the required functions names the missing functions`() throws {
            let failure = #expect(throws: Ed25519.Unavailable.self) { try LibCrypto.load(["libc.so.6"]).get() }

            #expect(failure?.description.contains("EVP_PKEY_new_raw_public_key") == true)
        }
    #endif
}

extension Data {
    fileprivate init(hex: String) {
        let digits = Array(hex.utf8)
        self = Data(
            stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
            }
        )
    }
}
