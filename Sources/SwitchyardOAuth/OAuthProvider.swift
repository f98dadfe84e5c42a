public import SwitchyardClient

/// Renews credentials at an OAuth 2 server: with the refresh token, or with the app's own credentials.
///
///     options.credentials = Credentials(provider: OAuthProvider(settings))
///
/// The requests go through the client that needs the token.
public struct OAuthProvider: CredentialProvider {
    /// Where a token comes from when there is none, or none that can be renewed.
    public enum Grant: Sendable, Hashable {
        /// From the user, who logs in: a refusal of the refresh token needs a new login.
        case login
        /// From the app's own credentials (RFC 6749 section 4.4); the user plays no part.
        case clientCredentials
    }

    /// The app and the server.
    public let settings: OAuthSettings
    /// Where a token comes from when there is none.
    public let grant: Grant

    /// Creates a provider.
    public init(_ settings: OAuthSettings, grant: Grant = .login) {
        self.settings = settings
        self.grant = grant
    }

    /// Whether there is a refresh token, or none is needed.
    public func canRenew(_ credential: Credential?) -> Bool {
        grant == .clientCredentials || credential?.refreshToken != nil
    }

    /// Gets a new token.
    ///
    /// - Parameter renewal: What is to be renewed.
    /// - Returns: The token.
    /// - Throws: ``CredentialError/loginRequired`` when the server refuses the refresh token for good; otherwise
    ///   ``OAuthError`` or ``RequestFailure``.
    public func renew(_ renewal: CredentialRenewal) async throws -> Credential? {
        let oauth = OAuthClient(settings, client: renewal.client)
        guard grant == .login else { return try await oauth.clientCredential() }
        guard let credential = renewal.credential else { return nil }
        do {
            return try await oauth.refreshed(credential)
        } catch OAuthError.refused(.invalidGrant, _) {
            throw CredentialError.loginRequired
        }
    }
}
