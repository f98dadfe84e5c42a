import Foundation
import SwitchyardServerLists

/// A command that creates a key for signed server lists.
struct ListKeysCommand: Command {
    static let name = "keys"
    static let summary = "Makes a key, writes it to a file that only you can read, and prints the public key."
    static let options: [Arguments.Option] = [
        .value("name", "NAME", "The name of the key in lists."),
        .value("output", "FILE", "The file for the private key, which must not exist yet (default: NAME.key)."),
    ]

    private let keyName: String
    private let path: String

    init(_ arguments: Arguments) throws(UsageError) {
        keyName = try arguments.requiredText("name")
        guard !keyName.isEmpty, !keyName.contains(where: { ":,\"\\".contains($0) || $0.isNewline }) else {
            throw UsageError("--name must have at least one character, and none of : , \" \\")
        }
        path = arguments.text("output") ?? "\(keyName).key"
    }

    func run() async throws -> Int32 {
        let key = try SigningKeyFile(name: keyName)
        try key.write(to: path)
        let publicKey = key.publicKey.base64EncodedString()
        Terminal.standardOutput.write(
            """
            private key: \(path) (keep it secret, and keep a copy)
            public key:  \(keyName):\(publicKey)
            in the app:  try ServerListKey(name: "\(keyName)", publicKey: "\(publicKey)")

            """
        )
        return 0
    }
}
