package import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#endif

/// Ed25519 signatures (RFC 8032 section 5.1), computed by the system.
///
/// On Apple systems the implementation is CryptoKit. On other systems it is libcrypto of OpenSSL 1.1.1 or later, which
/// is loaded at run time.
package enum Ed25519 {
    /// The number of bytes in a public or private key.
    package static let keySize = 32
    /// The number of bytes of a signature.
    package static let signatureSize = 64

    /// The reason why this system cannot compute signatures.
    package struct Unavailable: Error, Hashable, CustomStringConvertible {
        /// A description of the reason, and of the remedy if there is one.
        package let description: String
    }

    /// Throws an error if this system cannot compute signatures.
    package static func check() throws(Unavailable) {
        #if !canImport(CryptoKit)
            _ = try LibCrypto.shared.get()
        #endif
    }

    /// Returns a new private key: 32 random bytes of the system's generator (RFC 8032 section 5.1.5).
    package static func newPrivateKey() -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<keySize).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Returns the public key of a private key, or `nil` if the private key is invalid.
    package static func publicKey(of privateKey: Data) throws(Unavailable) -> Data? {
        #if canImport(CryptoKit)
            return (try? Curve25519.Signing.PrivateKey(rawRepresentation: privateKey))?.publicKey.rawRepresentation
        #else
            return try LibCrypto.shared.get().publicKey(of: privateKey)
        #endif
    }

    /// Returns the signature of a message, or `nil` if the private key is invalid.
    package static func signature(of message: Data, by privateKey: Data) throws(Unavailable) -> Data? {
        #if canImport(CryptoKit)
            return try? Curve25519.Signing.PrivateKey(rawRepresentation: privateKey).signature(for: message)
        #else
            return try LibCrypto.shared.get().signature(of: message, by: privateKey)
        #endif
    }

    /// Whether a signature of a message was made with the private key that belongs to a public key.
    package static func isValid(
        _ signature: Data,
        of message: Data,
        by publicKey: Data
    ) throws(Unavailable) -> Bool {
        guard signature.count == signatureSize, publicKey.count == keySize else { return false }
        #if canImport(CryptoKit)
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
            return key?.isValidSignature(signature, for: message) ?? false
        #else
            return try LibCrypto.shared.get().isValid(signature, of: message, by: publicKey)
        #endif
    }
}
