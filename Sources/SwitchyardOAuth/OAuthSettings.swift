import Foundation
public import SwitchyardHTTP

/// An app as it is known to an OAuth 2 server, and where that server is asked.
///
/// Endpoints are paths below the service's base URL, or absolute URLs.
public struct OAuthSettings: Sendable, Hashable {
    /// How the app proves who it is.
    public enum ClientAuthentication: Sendable, Hashable {
        /// Not at all: an app that cannot keep a secret, as all on users' devices (RFC 8252).
        case none
        /// With `Authorization: Basic` (RFC 6749 section 2.3.1).
        case basic(secret: String)
        /// With the secret in the form, for servers that know nothing else.
        case form(secret: String)
    }

    /// The app's name at the server.
    public var clientID: String
    /// How the app proves who it is; not at all unless set.
    public var authentication = ClientAuthentication.none
    /// Where tokens are had.
    public var tokenEndpoint: String
    /// Where the user logs in, an absolute URL; `nil` when no flow needs it.
    public var authorizationEndpoint: String?
    /// Where devices get their codes; `nil` when no flow needs it.
    public var deviceEndpoint: String?
    /// Where the server sends the user back to; `nil` when no flow needs it.
    public var redirectURI: String?
    /// What the app asks to be allowed to do.
    public var scopes: [String] = []

    /// Whether a refresh token may be sent a second time when the answer to the first did not come; off unless set.
    ///
    /// Set it for a server that gives no new refresh token with each renewal, or takes the old one for a while longer.
    /// Then a renewal goes to the next server of the service as a read does. One that spends refresh tokens takes a second
    /// use for theft (RFC 9700 section 4.14.2), and logs the user out.
    public var refreshMayBeRepeated = false

    /// Creates settings; everything else is set through the properties.
    public init(clientID: String, tokenEndpoint: String) {
        self.clientID = clientID
        self.tokenEndpoint = tokenEndpoint
    }

    /// The scopes as they are sent; `nil` for none.
    var scopeText: String? { scopes.isEmpty ? nil : scopes.joined(separator: " ") }
}

extension OAuthSettings.ClientAuthentication: Discreet {
    /// The way, without the secret.
    public var description: String {
        switch self {
        case .none: "none"
        case .basic: "basic ***"
        case .form: "form ***"
        }
    }
}

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
