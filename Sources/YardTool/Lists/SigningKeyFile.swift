import Foundation
import Switchyard
import SwitchyardServerLists

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file with a private key that signs server lists.
///
/// The file permissions let only the owner of the file read it. It is a JSON object with `name`, `privateKey` and
/// `publicKey`, the keys in Base64.
struct SigningKeyFile {
    let name: String
    let privateKey: Data
    let publicKey: Data

    /// Creates a new key.
    init(name: String) throws {
        self.name = name
        privateKey = Ed25519.newPrivateKey()
        publicKey = try Self.publicKey(of: privateKey)
    }

    /// Reads a key.
    init(contentsOf path: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let value = try? JSONDecoder().decode(JSONValue.self, from: bytes)
        guard let name = value?["name"]?.string, !name.isEmpty,
            let key = value?["privateKey"]?.string.flatMap({ Data(base64Encoded: $0) }), key.count == Ed25519.keySize
        else {
            throw ListProblem("\(path): expected a key file that yard list keys has written")
        }
        self.name = name
        privateKey = key
        publicKey = try Self.publicKey(of: key)
    }

    private static func publicKey(of privateKey: Data) throws -> Data {
        guard let publicKey = try Ed25519.publicKey(of: privateKey) else {
            throw ListProblem("the private key is invalid: must be an Ed25519 key")
        }
        return publicKey
    }

    /// Writes the file, which must not exist.
    func write(to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ListProblem("\(path): \(String(cString: strerror(errno)))") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let document: JSONValue = [
            "name": .string(name), "privateKey": .string(privateKey.base64EncodedString()),
            "publicKey": .string(publicKey.base64EncodedString()),
        ]
        try handle.write(contentsOf: document.data + Data("\n".utf8))
        try handle.synchronize()
    }
}
