import Foundation
public import SwitchyardHTTP

/// The registration of an app at an OAuth 2 server, and the endpoints of that server.
///
/// Endpoints are paths below the service's base URL, or absolute URLs.
public struct OAuthSettings: Sendable, Hashable {
    /// The way in which the app authenticates itself to the server.
    public enum ClientAuthentication: Sendable, Hashable {
        /// No authentication, for an app that cannot keep a secret. An app on a user's device cannot keep a secret (RFC
        /// 8252).
        case none
        /// The secret in an `Authorization: Basic` header (RFC 6749 section 2.3.1).
        case basic(secret: String)
        /// The secret in the form body, for servers that do not support `Authorization: Basic`.
        case form(secret: String)
    }

    /// The client identifier of the app at the server.
    public var clientID: String
    /// The way in which the app authenticates itself, none by default.
    public var authentication = ClientAuthentication.none
    /// The URL of the endpoint that issues access tokens and refresh tokens.
    public var tokenEndpoint: String
    /// The absolute URL at which the user logs in, or `nil` if the app uses no OAuth flow that needs this URL.
    public var authorizationEndpoint: String?
    /// The endpoint that issues device codes, or `nil` if the app uses no OAuth flow that needs this endpoint.
    public var deviceEndpoint: String?
    /// The URI to which the server redirects the user, or `nil` if the app uses no OAuth flow that needs this URI.
    public var redirectURI: String?
    /// The OAuth scopes that the app requests, none by default.
    public var scopes: [String] = []

    /// Whether a refresh token may be sent again after its first response was lost, `false` by default.
    ///
    /// Set it to `true` only for a server that issues no new refresh token with each refresh, or that accepts the old
    /// one for some time. A refresh request then fails over to the next server of the service, as a GET does. A server
    /// that rotates refresh tokens treats the second use of a token as theft (RFC 9700 section 4.14.2) and logs the
    /// user out.
    public var refreshMayBeRepeated = false

    /// Creates settings with the required values.
    ///
    /// All other settings are properties.
    public init(clientID: String, tokenEndpoint: String) {
        self.clientID = clientID
        self.tokenEndpoint = tokenEndpoint
    }

    /// The scopes as they are sent, separated by spaces, or `nil` if there are none.
    var scopeText: String? { scopes.isEmpty ? nil : scopes.joined(separator: " ") }
}

extension OAuthSettings.ClientAuthentication: RedactedDescribable {
    /// The name of the authentication method, without the secret.
    public var description: String {
        switch self {
        case .none: "none"
        case .basic: "basic ***"
        case .form: "form ***"
        }
    }
}

/// A PKCE verifier and challenge (RFC 7636, method S256).
///
/// They prove to the server that the client that redeems an authorization code is the client that requested it.
public struct PKCE: Sendable, Hashable {
    /// The secret that is sent when the authorization code is redeemed.
    public let verifier: String
    /// The SHA-256 digest of the verifier, sent when the authorization code is requested.
    public let challenge: String
    /// The method that derives the challenge from the verifier.
    ///
    /// It is always `S256`.
    public let method = "S256"

    /// Creates a random verifier from 32 bytes, and its challenge.
    public init() {
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        self.init(checked: Data(bytes).base64URLText)
    }

    /// Creates the challenge for a verifier, or returns `nil` if the verifier is invalid.
    ///
    /// A valid verifier has 43 to 128 characters: letters, digits, `-`, `.`, `_` and `~`.
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

extension PKCE: RedactedDescribable {
    /// The method and the challenge, without the verifier.
    public var description: String { "\(method) \(challenge)" }
}
