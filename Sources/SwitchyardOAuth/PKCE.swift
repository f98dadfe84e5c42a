import Foundation
public import SwitchyardHTTP

/// The proof that who redeems an authorisation code is who asked for it (RFC 7636, method S256).
public struct PKCE: Sendable, Hashable {
    /// The secret, sent when the code is redeemed.
    public let verifier: String
    /// Its digest, sent when the code is asked for.
    public let challenge: String
    /// How the one follows from the other: always `S256`.
    public let method = "S256"

    /// Makes a proof from 32 random bytes.
    public init() {
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        self.init(checked: Data(bytes).base64URLText)
    }

    /// Makes a proof from a secret; `nil` unless it has 43 to 128 letters, digits, `-`, `.`, `_` and `~`.
    public init?(verifier: String) {
        guard (43...128).contains(verifier.utf8.count), verifier.utf8.allSatisfy(URLCharacters.unreserved.contains)
        else {
            return nil
        }
        self.init(checked: verifier)
    }

    private init(checked verifier: String) {
        self.verifier = verifier
        challenge = MessageDigest.sha256(verifier.utf8).base64URLText
    }
}

extension PKCE: Discreet {
    /// The method and the digest, without the secret.
    public var description: String { "\(method) \(challenge)" }
}
