public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A login that the user has been sent to, kept until the answer is there.
public struct OAuthLogin: Sendable, Hashable {
    /// Where the user logs in; to be opened in a browser (RFC 8252).
    public let url: URL
    /// What the answer has to bring back.
    public let state: String
    /// The proof for redeeming the code.
    public let pkce: PKCE
}

extension OAuthClient {
    /// Begins a login with an authorisation code (RFC 6749 section 4.1, with PKCE).
    ///
    /// - Parameters:
    ///   - state: What the answer has to bring back; random unless given.
    ///   - pkce: The proof for redeeming the code; random unless given.
    ///   - extra: Further parameters of the URL, such as `prompt`.
    /// - Returns: Where to send the user, and what to keep.
    /// - Throws: ``OAuthError/missingEndpoint(_:)``, ``RequestError`` when the endpoint is no URL.
    public func authorization(
        state: String = PKCE().verifier,
        pkce: PKCE = PKCE(),
        extra: Parameters = [:]
    ) throws -> OAuthLogin {
        guard let endpoint = settings.authorizationEndpoint else {
            throw OAuthError.missingEndpoint("authorizationEndpoint")
        }
        var query: Parameters = [
            "response_type": "code", "client_id": settings.clientID, "state": state,
            "code_challenge": pkce.challenge, "code_challenge_method": pkce.method,
        ]
        if let uri = settings.redirectURI { query.append("redirect_uri", uri) }
        if let scope = settings.scopeText { query.append("scope", scope) }
        query.merge(extra, overriding: true)
        let base = BaseURL(try RequestURL(validating: endpoint))
        let request = try RequestGenerator(headers: [:]).request(for: APIConfiguration(query: query), on: base)
        guard let url = request.url.foundationURL else {
            throw RequestError.url(text: endpoint, reason: .notAbsolute)
        }
        return OAuthLogin(url: url, state: state, pkce: pkce)
    }

    /// Redeems the code that a login brought back.
    ///
    /// - Parameters:
    ///   - callback: The URL to which the server sent the user.
    ///   - login: The login that it answers.
    /// - Returns: The token.
    /// - Throws: ``OAuthError/stateMismatch``, ``OAuthError/missingCode``, ``OAuthError`` from the server, or
    ///   ``RequestFailure``.
    public func credential(redeeming callback: URL, for login: OAuthLogin) async throws -> Credential {
        // The query is a form (RFC 6749 section 4.1.2): a `+` in it is a space.
        let query = URLComponents(url: callback, resolvingAgainstBaseURL: false)?.percentEncodedQuery
        let answer = query.map { Parameters(parsing: $0) } ?? Parameters()
        let value = { (name: String) -> String? in if case .string(let text) = answer[name] { text } else { nil } }
        guard value("state") == login.state else { throw OAuthError.stateMismatch }
        if let error = value("error") {
            throw OAuthError.refused(OAuthError.Code(rawValue: error), description: value("error_description"))
        }
        guard let code = value("code"), !code.isEmpty else { throw OAuthError.missingCode }
        var form: Parameters = [
            "grant_type": "authorization_code", "code": code, "code_verifier": login.pkce.verifier,
        ]
        if let uri = settings.redirectURI { form.append("redirect_uri", uri) }
        return try await token(form)
    }
}
