public import Foundation
public import SwitchyardClient
import SwitchyardHTTP

/// Gets and renews tokens from an OAuth 2 server (RFC 6749), over a client of this library.
///
/// ### Use
///
///     let oauth = OAuthClient(settings, client: client)
///     let login = try oauth.authorization()                    // open login.url in the browser
///     let token = try await oauth.credential(redeeming: callbackURL, for: login)
///     credentials.set(token, in: client.environment)
///
/// Its requests go without credentials, and no token and no secret of it comes into a description.
public struct OAuthClient: Sendable {
    /// The app and the server.
    public let settings: OAuthSettings
    let client: NetworkClient
    let clock: @Sendable () -> Date

    /// Creates a client for an OAuth 2 server.
    ///
    /// - Parameters:
    ///   - settings: The app and the server.
    ///   - client: What sends the requests.
    ///   - clock: The time of day, from which tokens expire; the system's unless given.
    public init(
        _ settings: OAuthSettings,
        client: NetworkClient,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.settings = settings
        self.client = client.withoutCredentials()
        self.clock = clock
    }

    /// A token for the app itself (RFC 6749 section 4.4).
    ///
    /// - Returns: The token.
    /// - Throws: ``OAuthError`` from the server, or ``RequestFailure``.
    public func clientCredential() async throws -> Credential {
        var form: Parameters = ["grant_type": "client_credentials"]
        if let scope = settings.scopeText { form.append("scope", scope) }
        // One token more does no harm.
        return try await token(form, mayBeRepeated: true)
    }

    /// A new token for a refresh token (RFC 6749 section 6).
    ///
    /// - Parameter credential: The old token.
    /// - Returns: The new one; with the old refresh token when the server sent no other.
    /// - Throws: ``OAuthError`` from the server, ``OAuthError/noRefreshToken``, or ``RequestFailure``.
    public func refreshed(_ credential: Credential) async throws -> Credential {
        guard let refreshToken = credential.refreshToken else { throw OAuthError.noRefreshToken }
        let form: Parameters = ["grant_type": "refresh_token", "refresh_token": refreshToken]
        let mayBeRepeated = settings.refreshMayBeRepeated ? true : nil
        return try await token(form, keeping: refreshToken, mayBeRepeated: mayBeRepeated)
    }

    func token(
        _ form: Parameters,
        keeping refreshToken: String? = nil,
        mayBeRepeated: Bool? = nil
    ) async throws -> Credential {
        let answer = try await send(form, to: settings.tokenEndpoint, mayBeRepeated: mayBeRepeated)
        return try credential(from: answer, keeping: refreshToken)
    }

    /// Reads a token.
    func credential(
        from answer: ServiceResponse,
        keeping refreshToken: String? = nil
    ) throws(OAuthError) -> Credential {
        let answer: TokenAnswer = try read(answer)
        guard answer.tokenType.map({ $0.lowercased() == "bearer" }) ?? true else {
            throw OAuthError.malformedAnswer("a token of the type \(answer.tokenType ?? "")")
        }
        let credential = answer.credential(at: clock(), keeping: refreshToken)
        guard credential.canBeSent else {
            throw OAuthError.malformedAnswer("a token with characters that no header field can hold")
        }
        return credential
    }

    /// Sends a form to an endpoint.
    func send(_ form: Parameters, to endpoint: String, mayBeRepeated: Bool? = nil) async throws -> ServiceResponse {
        var form = form
        var configuration = APIConfiguration(path: endpoint, method: .post)
        switch settings.authentication {
        case .none: form.append("client_id", settings.clientID)
        case .basic(let secret):
            configuration.headers = [.basic(user: escaped(settings.clientID), password: escaped(secret))]
        case .form(let secret):
            form.append("client_id", settings.clientID)
            form.append("client_secret", secret)
        }
        configuration.headers.add("Accept", "application/json")
        configuration.headers.add("Cache-Control", "no-store")
        configuration.body = .form(form)
        configuration.mayBeRepeated = mayBeRepeated
        configuration.redirects = .sameOrigin
        return try await client.send(configuration)
    }

    /// Reads the answer of an endpoint.
    func read<Answer: Decodable>(_ answer: ServiceResponse) throws(OAuthError) -> Answer {
        guard case .whole(let body) = answer.response.body else { throw OAuthError.malformedAnswer("a stream") }
        guard (200..<300).contains(answer.status) else { throw refusal(answer.status, body) }
        do {
            return try JSONDecoder().decode(Answer.self, from: body)
        } catch {
            // Some servers refuse with a status of success.
            if case .refused(let code, let description) = refusal(answer.status, body) {
                throw OAuthError.refused(code, description: description)
            }
            throw OAuthError.malformedAnswer("\(type(of: error))")
        }
    }

    private func refusal(_ status: Int, _ body: Data) -> OAuthError {
        guard let refusal = try? JSONDecoder().decode(TokenRefusal.self, from: body) else {
            return .malformedAnswer("status \(status)")
        }
        return .refused(OAuthError.Code(rawValue: refusal.error), description: refusal.description)
    }

    /// Name and secret as the form encoding writes them, which RFC 6749 section 2.3.1 wants in the header too.
    private func escaped(_ text: String) -> String {
        var output: [UInt8] = []
        PercentEncoding.append(Array(text.utf8), allowed: .form, to: &output)
        return String(decoding: output, as: UTF8.self)
    }
}
