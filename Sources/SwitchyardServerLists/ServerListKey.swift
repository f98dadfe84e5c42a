public import Foundation

/// A public key that may sign server lists.
///
/// An app has one key or several. A list is trusted if at least one of the keys has signed it, so a key is replaced in
/// three steps: publish lists that the old and the new key sign, release an app that has only the new key, and stop
/// signing with the old key when no app needs it. `yard list keys` makes a key.
public struct ServerListKey: Sendable, Hashable {
    /// The name of the key in the signatures of a list.
    public let name: String
    /// The 32 bytes of the Ed25519 key (RFC 8032 section 5.1.5).
    public let bytes: Data

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - name: The name of the key, as in the list.
    ///   - publicKey: The 32 bytes of the public key in Base64 (RFC 4648 section 4).
    /// - Throws: ``ServerListError/invalidKey(_:reason:)``.
    public init(name: String, publicKey: String) throws(ServerListError) {
        guard !name.isEmpty else { throw .invalidKey(name, reason: "the name must not be empty") }
        guard let bytes = Data(base64Encoded: publicKey) else {
            throw .invalidKey(name, reason: "the public key must be Base64")
        }
        guard bytes.count == Ed25519.keySize else {
            throw .invalidKey(name, reason: "the public key has \(bytes.count) bytes: must have \(Ed25519.keySize)")
        }
        self.name = name
        self.bytes = bytes
    }
}
