public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A client that gets and refreshes access tokens from an OAuth 2 server (RFC 6749).
///
/// It sends its requests with a `NetworkClient`.
///
/// ### Use
///
///     let oauth = OAuthClient(settings, client: client)
///     let login = try oauth.authorization()                    // open login.url in the browser
///     let token = try await oauth.credential(redeeming: callbackURL, for: login)
///     credentials.set(token, in: client.environment)
///
/// The requests for tokens carry no credentials of the `NetworkClient`. The description of this type contains no token
/// and no secret.
public struct OAuthClient: Sendable {
    /// The registration of the app and the endpoints of the server.
    public let settings: OAuthSettings
    let client: NetworkClient
    let clock: @Sendable () -> Date

    /// Creates a client for an OAuth 2 server.
    ///
    /// - Parameters:
    ///   - settings: The registration of the app and the endpoints of the server.
    ///   - client: The client that sends the requests.
    ///   - clock: Returns the current date and time, from which the expiry of access tokens is calculated. By default,
    ///     it is the system's clock.
    public init(
        _ settings: OAuthSettings,
        client: NetworkClient,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.settings = settings
        self.client = client.withoutCredentials()
        self.clock = clock
    }

    /// Gets an access token for the app itself (RFC 6749 section 4.4).
    ///
    /// - Returns: The credential with the access token.
    /// - Throws: ``OAuthError`` from the server, or ``/SwitchyardClient/RequestFailure``.
    public func clientCredential() async throws -> Credential {
        var form: Parameters = ["grant_type": "client_credentials"]
        if let scope = settings.scopeText { form.append("scope", scope) }
        // A second access token does no harm, so the request may be sent again.
        return try await token(form, mayBeRepeated: true)
    }

    /// Refreshes an access token (RFC 6749 section 6).
    ///
    /// - Parameter credential: The credential with the old access token and the refresh token.
    /// - Returns: The new credential. If the server sent no new refresh token, it keeps the old refresh token.
    /// - Throws: ``OAuthError`` from the server, ``OAuthError/noRefreshToken``, or `RequestFailure`.
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

    /// Returns the credential in a response of the token endpoint.
    func credential(
        from answer: ServiceResponse,
        keeping refreshToken: String? = nil
    ) throws(OAuthError) -> Credential {
        let answer: TokenResponse = try read(answer)
        guard answer.tokenType.map({ $0.lowercased() == "bearer" }) ?? true else {
            let type = answer.tokenType ?? ""
            throw OAuthError.malformedResponse("the access token has the type \(type): must have the type bearer")
        }
        let credential = answer.credential(at: clock(), keeping: refreshToken)
        guard credential.canBeSent else {
            throw OAuthError.malformedResponse("the access token has characters that a header field must not have")
        }
        return credential
    }

    /// Sends a form to an endpoint and returns the response.
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

    /// Decodes the response of an endpoint, or throws the error that it contains.
    func read<Answer: Decodable>(_ answer: ServiceResponse) throws(OAuthError) -> Answer {
        guard case .whole(let bytes) = answer.response.body else {
            throw OAuthError.malformedResponse("its body must be in memory, but is a stream")
        }
        let body = FormResponse(bytes, contentType: answer.headers.contentType)?.json ?? bytes
        guard (200..<300).contains(answer.status) else { throw refusal(answer.status, body) }
        do {
            return try JSONDecoder().decode(Answer.self, from: body)
        } catch {
            // Some servers send an OAuth error with a success status such as 200.
            if case .refused(let code, let description) = refusal(answer.status, body) {
                throw OAuthError.refused(code, description: description)
            }
            throw OAuthError.malformedResponse("its body cannot be decoded (\(type(of: error)))")
        }
    }

    private func refusal(_ status: Int, _ body: Data) -> OAuthError {
        guard let refusal = try? JSONDecoder().decode(TokenRefusal.self, from: body) else {
            return .malformedResponse("it has status \(status) and contains no OAuth error")
        }
        return .refused(OAuthError.Code(rawValue: refusal.error), description: refusal.description)
    }

    /// Returns the client identifier or secret in form encoding.
    ///
    /// RFC 6749 section 2.3.1 requires this encoding in the `Authorization` header too.
    private func escaped(_ text: String) -> String {
        var output: [UInt8] = []
        PercentEncoding.append(Array(text.utf8), allowed: .form, to: &output)
        return String(decoding: output, as: UTF8.self)
    }
}

/// A login that has started.
///
/// The app must keep it until the user returns with the callback URL.
public struct OAuthLogin: Sendable, Hashable {
    /// The URL to open in a browser, where the user logs in (RFC 8252).
    public let url: URL
    /// The state that the callback URL must contain.
    public let state: String
    /// The PKCE verifier and challenge.
    ///
    /// The verifier is sent when the authorization code is redeemed.
    public let pkce: PKCE
}

extension OAuthClient {
    /// Starts a login with an authorization code (RFC 6749 section 4.1, with PKCE).
    ///
    /// - Parameters:
    ///   - state: The state that the callback URL must contain, random by default.
    ///   - pkce: The PKCE verifier and challenge (RFC 7636), random by default.
    ///   - extra: Further parameters of the URL, such as `prompt`.
    /// - Returns: The login, with the URL to open.
    /// - Throws: ``OAuthError/missingEndpoint(_:)``, or ``/SwitchyardHTTP/RequestError`` if the endpoint is not a valid
    ///   URL.
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

    /// Redeems the authorization code of a login for an access token.
    ///
    /// - Parameters:
    ///   - callback: The URL to which the server redirected the user.
    ///   - login: The login that the callback belongs to.
    /// - Returns: The credential with the access token.
    /// - Throws: ``OAuthError/stateMismatch``, ``OAuthError/missingCode``, ``OAuthError`` from the server, or
    ///   ``/SwitchyardClient/RequestFailure``.
    public func credential(redeeming callback: URL, for login: OAuthLogin) async throws -> Credential {
        // The query is form-encoded (RFC 6749 section 4.1.2), so a `+` in it is a space.
        let query = URLComponents(url: callback, resolvingAgainstBaseURL: false)?.percentEncodedQuery
        let answer = query.map { Parameters(parsing: $0) } ?? Parameters()
        let value = { (name: String) -> String? in if case .string(let text) = answer[name] { text } else { nil } }
        let state = value("state")
        // Some servers omit the state in an error callback. Accepting such a callback is safe, because it contains no
        // authorization code to redeem.
        if let error = value("error"), state == login.state || state?.isEmpty ?? true {
            throw OAuthError.refused(OAuthError.Code(rawValue: error), description: value("error_description"))
        }
        guard state == login.state else { throw OAuthError.stateMismatch }
        guard let code = value("code"), !code.isEmpty else { throw OAuthError.missingCode }
        var form: Parameters = [
            "grant_type": "authorization_code", "code": code, "code_verifier": login.pkce.verifier,
        ]
        if let uri = settings.redirectURI { form.append("redirect_uri", uri) }
        return try await token(form)
    }
}

/// The login of a device without a browser (RFC 8628).
///
/// The device shows the user code and the URL to the user.
public struct DeviceLogin: Sendable, Hashable {
    /// The code that the user types at ``verificationURL``.
    public var userCode: String
    /// The URL that the user opens on another device to type the user code.
    public var verificationURL: String
    /// The URL that already contains the user code, for a QR code, or `nil` if the server sends no such URL.
    public var completeURL: String?
    /// The time for which the user code is valid, at most a day.
    ///
    /// If the server sends no lifetime, it is a day.
    public var lifetime: Duration
    let deviceCode: String
    let interval: Duration
}

extension OAuthClient {
    /// Starts the login of a device.
    ///
    /// - Returns: The login to show to the user.
    /// - Throws: ``OAuthError`` or ``/SwitchyardClient/RequestFailure``.
    public func deviceAuthorization() async throws -> DeviceLogin {
        guard let endpoint = settings.deviceEndpoint else { throw OAuthError.missingEndpoint("deviceEndpoint") }
        var form = Parameters()
        // The endpoint requires the client identifier in the form even if the header contains it.
        if case .basic = settings.authentication { form.append("client_id", settings.clientID) }
        if let scope = settings.scopeText { form.append("scope", scope) }
        let answer: DeviceResponse = try read(try await send(form, to: endpoint))
        return DeviceLogin(
            userCode: answer.userCode,
            verificationURL: answer.verificationURI,
            completeURL: answer.verificationURIComplete,
            lifetime: .seconds(min(answer.expiresIn?.value ?? 86_400, 86_400)),
            deviceCode: answer.deviceCode,
            interval: .seconds(min(max(1, answer.interval?.value ?? 5), 3_600))
        )
    }

    /// Waits until the user has confirmed the login of a device.
    ///
    /// The server is polled at the interval that the server has set. Each time the server responds `slow_down`, the
    /// interval grows by 5 s.
    ///
    /// A transient failure does not end the wait. After each transient failure the pause doubles, up to a minute or
    /// twice the interval, whichever is longer. When the server responds again, the pause is reset. A pause is never
    /// shorter than a `Retry-After` of the server (RFC 8628 section 3.5). Cancelling the task ends the wait.
    ///
    /// - Parameter login: The login that is shown to the user.
    /// - Returns: The credential with the access token.
    /// - Throws: ``OAuthError/deviceExpired``, or ``OAuthError/refused(_:description:)`` if the user denies the login.
    public func credential(confirming login: DeviceLogin) async throws -> Credential {
        let time = client.time
        let end = time.now.advanced(by: login.lifetime)
        var pace = DevicePace(interval: login.interval)
        while true {
            let next = time.now.advanced(by: pace.pause)
            guard next < end else {
                try await time.sleep(until: end)
                throw OAuthError.deviceExpired
            }
            try await time.sleep(until: next)
            if let credential = try await ask(for: login, &pace) { return credential }
        }
    }

    /// Polls the server once, and returns `nil` if the user has not confirmed yet or the failure is transient.
    private func ask(for login: DeviceLogin, _ pace: inout DevicePace) async throws -> Credential? {
        let form: Parameters = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": login.deviceCode,
        ]
        let answer: ServiceResponse
        do {
            answer = try await send(form, to: settings.tokenEndpoint)
        } catch let failure as RequestFailure where failure.passes {
            pace.fail(askedFor: failure.retryAfter)
            return nil
        }
        do throws(OAuthError) {
            return try credential(from: answer)
        } catch {
            switch error {
            case .refused(.authorizationPending, _): pace.goOn()
            case .refused(.slowDown, _): pace.slowDown()
            case .refused(.expiredToken, _): throw OAuthError.deviceExpired
            case .refused(.accessDenied, _), .refused(.invalidGrant, _), .refused(.invalidClient, _): throw error
            default:
                guard answer.passes else { throw error }
                pace.fail(askedFor: RetryAfter.duration(in: answer.headers, now: clock()))
            }
            return nil
        }
    }
}

/// The pauses between the polls of a device login.
private struct DevicePace {
    private var interval: Duration
    private var backoff: Duration = .zero

    init(interval: Duration) {
        self.interval = interval
    }

    var pause: Duration { max(interval, backoff) }

    /// Resets the backoff after a response from the server.
    mutating func goOn() {
        backoff = .zero
    }

    /// Increases the interval of all further polls, as `slow_down` requires.
    mutating func slowDown() {
        goOn()
        interval += .seconds(5)
    }

    /// Increases the backoff after a transient failure.
    ///
    /// - Parameter wish: The minimum pause that the server asks for, or `nil` if it asks for none.
    mutating func fail(askedFor wish: Duration?) {
        let longest = max(.seconds(60), interval * 2)
        backoff = max(min(max(interval, backoff) * 2, longest), wish ?? .zero)
    }
}

extension RequestFailure {
    /// Whether the failure is transient, so that the request may succeed later.
    fileprivate var passes: Bool {
        switch reason {
        case .transport(let error): Transience(error.kind) != .permanent
        case .deadlineExceeded, .overloaded, .rateLimited, .queueFull: true
        default: false
        }
    }

    /// The time to wait that the server asked for with a rate limit, or `nil` if the failure is not a rate limit.
    fileprivate var retryAfter: Duration? {
        if case .rateLimited(let pause) = reason { pause } else { nil }
    }
}

extension ServiceResponse {
    /// Whether the status is transient, so that the request may succeed later.
    fileprivate var passes: Bool { Transience(status: status) == .transient }
}

extension DeviceLogin: RedactedDescribable {
    /// The user code and the URL, without the secret device code.
    public var description: String { "device login with the code \(userCode) at \(verificationURL)" }
}
