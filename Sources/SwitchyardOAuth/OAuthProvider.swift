public import SwitchyardClient

/// A credential provider that gets access tokens from an OAuth 2 server, either with the refresh token or with the
/// app's own credentials.
///
///     options.credentials = Credentials(provider: OAuthProvider(settings))
///
/// The requests for tokens are sent by the client that needs the access token.
public struct OAuthProvider: CredentialProvider {
    /// The way to get a new access token.
    public enum Grant: Sendable, Hashable {
        /// The user logs in. If the server refuses the refresh token, the user must log in again.
        case login
        /// The app uses its own credentials (RFC 6749 section 4.4), without the user.
        case clientCredentials
    }

    /// The registration of the app and the endpoints of the server.
    public let settings: OAuthSettings
    /// The way to get a new access token.
    public let grant: Grant

    /// Creates a provider.
    public init(_ settings: OAuthSettings, grant: Grant = .login) {
        self.settings = settings
        self.grant = grant
    }

    /// Returns whether an access token can be obtained without the user.
    ///
    /// This is the case if the credential has a refresh token, or if the grant is ``Grant/clientCredentials``.
    public func canRefresh(_ credential: Credential?) -> Bool {
        grant == .clientCredentials || credential?.refreshToken != nil
    }

    /// Gets a new access token.
    ///
    /// - Parameter refresh: The credential to refresh, and the client to use.
    /// - Returns: The credential with the access token, or `nil` if there is no credential to refresh.
    /// - Throws: ``CredentialError/loginRequired`` if the server permanently refuses the refresh token, otherwise
    ///   ``OAuthError`` or ``RequestFailure``.
    public func refresh(_ refresh: CredentialRefresh) async throws -> Credential? {
        let oauth = OAuthClient(settings, client: refresh.client)
        guard grant == .login else { return try await oauth.clientCredential() }
        guard let credential = refresh.credential else { return nil }
        do {
            return try await oauth.refreshed(credential)
        } catch OAuthError.refused(.invalidGrant, _) {
            throw CredentialError.loginRequired
        }
    }
}
