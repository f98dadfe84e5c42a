import Foundation
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOAuth
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// OAuth 2.0.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct OAuthTests {
    private static let now = Date(timeIntervalSince1970: 1000)

    private static var settings: OAuthSettings {
        var settings = OAuthSettings(clientID: "app", tokenEndpoint: "token")
        settings.authorizationEndpoint = "https://login.test/authorize?tenant=1"
        settings.deviceEndpoint = "device"
        settings.redirectURI = "app://done"
        settings.scopes = ["read", "write"]
        return settings
    }

    private static func oauth(
        with settings: OAuthSettings = settings,
        time: ManualClock = ManualClock(),
        _ answers: StubResponse...
    ) throws -> (oauth: OAuthClient, transport: StubTransport) {
        let list = AnswerList(answers)
        let (client, transport) = try NetworkClient.stubbed(time: time, options: { _ in }) { list.answer($0) }
        return (OAuthClient(settings, client: client, clock: { now }), transport)
    }

    private static func form(_ request: HTTPRequest?) throws -> [String: String] {
        guard case .data(let data)? = request?.body else { return [:] }
        let items = URLComponents(string: "?\(String(decoding: data, as: UTF8.self))")?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    private static let token = StubResponse.json(
        #"{"access_token": "t", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r"}"#
    )

    // MARK: - PKCE

    @Test func `the PKCE challenge matches the example of RFC 7636`() throws {
        let pkce = try #require(PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))

        #expect(pkce.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func `a PKCE verifier is random, and a verifier that RFC 7636 forbids is rejected`() {
        #expect(PKCE().verifier != PKCE().verifier)
        #expect(PKCE().verifier.utf8.count == 43)
        #expect(PKCE(verifier: "short") == nil)
        #expect(PKCE(verifier: String(repeating: "ü", count: 50)) == nil)
    }

    // MARK: - The authorization code

    @Test func `an authorization URL contains client, state, scopes and PKCE challenge`() throws {
        let (oauth, _) = try Self.oauth(Self.token)

        let login = try oauth.authorization()

        let items = URLComponents(url: login.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let query = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        #expect(login.url.absoluteString.hasPrefix("https://login.test/authorize?tenant=1&"))
        #expect(query["response_type"] == "code")
        #expect(query["client_id"] == "app")
        #expect(query["state"] == login.state)
        #expect(query["scope"] == "read write")
        #expect(query["redirect_uri"] == "app://done")
        #expect(query["code_challenge"] == login.pkce.challenge)
        #expect(query["code_challenge_method"] == "S256")
    }

    @Test func `an authorization code is redeemed with the PKCE verifier`() async throws {
        let (oauth, transport) = try Self.oauth(Self.token)
        let login = try oauth.authorization()
        let callback = try #require(URL(string: "app://done?code=c%2F1&state=\(login.state)"))

        let credential = try await oauth.credential(redeeming: callback, for: login)

        let form = try Self.form(transport.requests.first)
        #expect(credential == .bearer("t", expiresAt: Self.now.addingTimeInterval(3600), refreshToken: "r"))
        #expect(form["grant_type"] == "authorization_code")
        #expect(form["code"] == "c/1")
        #expect(form["code_verifier"] == login.pkce.verifier)
        #expect(form["client_id"] == "app")
        #expect(form["redirect_uri"] == "app://done")
    }

    // RFC 6749 section 4.1.2 and appendix B.
    @Test func `the query of an OAuth callback URL is decoded as a form`() async throws {
        let (oauth, transport) = try Self.oauth(Self.token)
        let login = try oauth.authorization(state: "page 7")
        let callback = try #require(URL(string: "app://done?code=a%2Bb+c&state=page+7"))

        _ = try await oauth.credential(redeeming: callback, for: login)

        #expect(try Self.form(transport.requests.first)["code"] == "a+b c")
    }

    @Test(arguments: [
        ("app://done?code=c", OAuthError.stateMismatch), ("app://done?code=c&state=other", .stateMismatch),
        ("app://done?state=s", .missingCode),
        ("app://done?state=s&error=access_denied&error_description=no", .refused(.accessDenied, description: "no")),
        (
            "app://done?state=s&error=access_denied&error_description=The+user+said%20no",
            .refused(.accessDenied, description: "The user said no")
        ),
    ])
    func `an OAuth callback with another state, no code or an error is rejected`(url: String, error: OAuthError)
        async throws
    {
        let (oauth, transport) = try Self.oauth(Self.token)
        let login = try oauth.authorization(state: "s")
        let callback = try #require(URL(string: url))

        await #expect(throws: error) { _ = try await oauth.credential(redeeming: callback, for: login) }
        #expect(transport.requestCount == 0)
    }

    // MARK: - Client credentials and refresh

    @Test func `an OAuth client authenticates with HTTP Basic or with form fields`() async throws {
        var settings = Self.settings
        settings.authentication = .basic(secret: "p:w")
        let (header, first) = try Self.oauth(with: settings, Self.token)
        settings.authentication = .form(secret: "pw")
        let (form, second) = try Self.oauth(with: settings, Self.token)

        _ = try await header.clientCredential()
        _ = try await form.clientCredential()

        let encoded = Data("app:p%3Aw".utf8).base64EncodedString()
        #expect(first.requests.first?.headers["Authorization"] == "Basic \(encoded)")
        #expect(try Self.form(first.requests.first)["grant_type"] == "client_credentials")
        #expect(try Self.form(second.requests.first)["client_secret"] == "pw")
    }

    @Test func `the old refresh token is kept if the server sends no new refresh token`() async throws {
        let (oauth, transport) = try Self.oauth(.json(#"{"access_token": "t2", "token_type": "bearer"}"#))

        let credential = try await oauth.refreshed(.bearer("t", refreshToken: "r"))

        #expect(credential == .bearer("t2", refreshToken: "r"))
        #expect(try Self.form(transport.requests.first)["refresh_token"] == "r")
    }

    @Test func `an OAuth provider sends the token refresh through the client that needs the token`() async throws {
        let good = Locked("t")
        let credentials = Credentials(provider: OAuthProvider(Self.settings))
        credentials.set(.bearer("old", refreshToken: "r"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            if request.url.path.hasSuffix("token") { return Self.token }
            return .status(request.headers["Authorization"] == "Bearer \(good.withLock { $0 })" ? 200 : 401)
        }

        #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
        #expect(transport.requests.map(\.url.path) == ["/v1/x", "/v1/token", "/v1/x"])
    }

    @Test func `a rejected refresh token requires a new login`() async throws {
        let credentials = Credentials(provider: OAuthProvider(Self.settings))
        credentials.set(.bearer("old", refreshToken: "r"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            request.url.path.hasSuffix("token") ? .json(#"{"error": "invalid_grant"}"#, status: 400) : .status(401)
        }

        #expect(await client.failure(of: APIConfiguration(path: "x")) == .credentials(.loginRequired))
    }

    @Test func `a client-credentials token is fetched before the first request`() async throws {
        let credentials = Credentials(provider: OAuthProvider(Self.settings, grant: .clientCredentials))
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            request.url.path.hasSuffix("token") ? Self.token : .status(200)
        }

        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(transport.requests.map { $0.headers["Authorization"] } == [nil, "Bearer t"])
    }

    @Test(arguments: [
        StubResponse.json("[]"), .json("{}"), .json(#"{"access_token": "t", "token_type": "mac"}"#),
        .json("oops", status: 500),
    ])
    func `an invalid OAuth token response is an error`(answer: StubResponse) async throws {
        let (oauth, _) = try Self.oauth(answer)

        await #expect { _ = try await oauth.clientCredential() } throws: { error in
            if case OAuthError.malformedResponse = error { true } else { false }
        }
    }

    // RFC 6749 section 5.1 wants a number; Azure AD sends a text.
    @Test(arguments: ["\"3600\"", "3600.0"])
    func `a token lifetime may be a string or a decimal number`(lifetime: String) async throws {
        let (oauth, _) = try Self.oauth(.json(#"{"access_token": "t", "expires_in": \#(lifetime)}"#))

        let credential = try await oauth.clientCredential()

        #expect(credential == .bearer("t", expiresAt: Self.now.addingTimeInterval(3600)))
    }

    // Some servers send 0 or -1 for a token that does not expire. The token is valid, and the old one may be spent.
    @Test(arguments: ["0", "\"0\"", "-1", "\"\"", "\"never\"", "true", "null"])
    func `an invalid token lifetime is ignored`(lifetime: String) async throws {
        let (oauth, _) = try Self.oauth(.json(#"{"access_token": "t", "expires_in": \#(lifetime)}"#))

        #expect(try await oauth.clientCredential() == .bearer("t"))
    }

    @Test func `a token with an invalid lifetime is used without a refresh for every request`() async throws {
        let credentials = Credentials(provider: OAuthProvider(Self.settings, grant: .clientCredentials))
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            request.url.path.hasSuffix("token")
                ? .json(#"{"access_token": "t", "expires_in": 0}"#) : .status(200)
        }

        for _ in 0..<3 { _ = try await client.send(APIConfiguration(path: "x")) }

        #expect(transport.requests.count { $0.url.path.hasSuffix("token") } == 1)
    }

    @Test(arguments: ["\"\"", "null"])
    func `the old refresh token is kept if the new refresh token is empty or null`(new: String) async throws {
        let (oauth, _) = try Self.oauth(.json(#"{"access_token": "t2", "refresh_token": \#(new)}"#))

        #expect(try await oauth.refreshed(.bearer("t", refreshToken: "r")) == .bearer("t2", refreshToken: "r"))
    }

    @Test func `an empty access token counts as missing, and the error in the same response is reported`() async throws
    {
        let (oauth, _) = try Self.oauth(.json(#"{"access_token": "", "error": "invalid_grant"}"#))

        await #expect(throws: OAuthError.refused(.invalidGrant, description: nil)) {
            _ = try await oauth.clientCredential()
        }
    }

    // RFC 6749 section 5.2 wants 400; GitHub and Slack send 200.
    @Test func `an OAuth error response is recognized even with a success status`() async throws {
        let (oauth, _) = try Self.oauth(.json(#"{"error": "bad_code", "error_description": "no"}"#))

        await #expect(throws: OAuthError.refused(OAuthError.Code(rawValue: "bad_code"), description: "no")) {
            _ = try await oauth.clientCredential()
        }
    }

    // MARK: - Secrets

    @Test func `the descriptions of OAuth values contain no secret`() async throws {
        let secret = "S3CR3T-" + String(repeating: "x", count: 40)
        let pkce = try #require(PKCE(verifier: secret))
        var settings = Self.settings
        settings.authentication = .form(secret: secret)
        let answer = StubResponse.json(
            #"{"device_code": "\#(secret)", "user_code": "AB", "verification_uri": "https://x.test", "expires_in": 60}"#
        )
        let (oauth, _) = try Self.oauth(with: settings, answer)
        let login = try oauth.authorization(pkce: pkce)
        let device = try await oauth.deviceAuthorization()

        let texts = [
            "\(settings)", "\(pkce)", "\(login)", "\(device)", String(reflecting: settings), String(reflecting: pkce),
            String(reflecting: login), String(reflecting: device),
            "\(OAuthSettings.ClientAuthentication.basic(secret: secret))",
        ]

        for text in texts { #expect(!text.contains(secret), "\(text)") }
        #expect(texts[0].contains("app") && texts[3].contains("AB"))
    }

    @Test(arguments: [true, false])
    func `no log or HAR archive of a login contains a secret`(withDevice: Bool) async throws {
        let secret = "S3CR3T-" + String(repeating: "x", count: 40)
        let recorder = HARRecorder()
        let lines = Locked<[String]>([])
        let sink = ClosureSink { entry in lines.withLock { $0.append("\(entry)") } }
        let answers = AnswerList([
            .json(
                #"{"device_code": "\#(secret)", "user_code": "A", "verification_uri": "https://x.test", "expires_in": 60}"#
            ),
            Self.token,
        ])
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(
            time: clock,
            options: { $0.interceptors = [recorder.interceptor, .logging(to: sink, .verbose)] }
        ) { withDevice ? answers.answer($0) : Self.token }
        let oauth = OAuthClient(Self.settings, client: client)

        if withDevice {
            let login = try await oauth.deviceAuthorization()
            let call = Task { try await oauth.credential(confirming: login) }
            await clock.waitForTimers(1, in: .seconds(5))
            clock.advance(by: .seconds(5))
            _ = try await call.value
        } else {
            let login = try oauth.authorization(state: "s", pkce: try #require(PKCE(verifier: secret)))
            let callback = try #require(URL(string: "app://done?code=c&state=s"))
            _ = try await oauth.credential(redeeming: callback, for: login)
        }
        let requests = withDevice ? 2 : 1
        // Each call logs four entries: dispatched, sent, responded, ended.
        await until { recorder.archive.entries.count == requests && lines.withLock { $0 }.count == 4 * requests }

        #expect(transport.requestCount == requests)
        #expect(!String(decoding: try recorder.archive.data(), as: UTF8.self).contains(secret))
        #expect(lines.withLock { $0 }.allSatisfy { !$0.contains(secret) })
    }

    // MARK: - Device authorization

    private static let device = StubResponse.json(
        #"{"device_code": "d", "user_code": "AB-CD", "verification_uri": "https://x.test", "expires_in": 60, "interval": 5}"#
    )

    private static func refusal(_ code: String) -> StubResponse { .json("{\"error\": \"\(code)\"}", status: 400) }

    @Test func `a device login polls at the allowed interval until the user confirms`() async throws {
        let clock = ManualClock()
        let (oauth, transport) = try Self.oauth(
            time: clock,
            Self.device,
            Self.refusal("authorization_pending"),
            Self.refusal("slow_down"),
            Self.token
        )

        let login = try await oauth.deviceAuthorization()
        let call = Task { try await oauth.credential(confirming: login) }
        var times: [Double] = []
        for pause in [5, 5, 10] {
            await clock.waitForTimers(1, in: .seconds(pause))
            clock.advance(by: .seconds(pause))
            times.append(clock.now.seconds)
            await transport.waitForRequests(times.count + 1)
        }

        #expect(login.userCode == "AB-CD")
        #expect(try await call.value.scheme == .bearer(token: "t"))
        #expect(try Self.form(transport.requests.last)["device_code"] == "d")
    }

    @Test func `a device login continues after one request has timed out`() async throws {
        let clock = ManualClock()
        let device = StubResponse.json(
            #"{"device_code": "d", "user_code": "A", "verification_uri": "https://x.test", "expires_in": 600, "interval": 5}"#
        )
        let (oauth, transport) = try Self.oauth(time: clock, device, .never, Self.token)
        let login = try await oauth.deviceAuthorization()

        let call = Task { try await oauth.credential(confirming: login) }
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))
        await transport.waitForRequests(2)
        clock.advance(by: .seconds(60))
        await clock.waitForTimers(1, in: .seconds(10))
        clock.advance(by: .seconds(10))

        #expect(try await call.value.scheme == .bearer(token: "t"))
    }

    @Test func `a device login ends as expired if the user does not confirm in time`() async throws {
        let clock = ManualClock()
        let (oauth, _) = try Self.oauth(time: clock, Self.device, Self.refusal("expired_token"))
        let login = try await oauth.deviceAuthorization()

        let call = Task { try await oauth.credential(confirming: login) }
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))

        await #expect(throws: OAuthError.deviceExpired) { _ = try await call.value }
    }

    @Test func `a device login ends when the user denies access`() async throws {
        let clock = ManualClock()
        let (oauth, _) = try Self.oauth(time: clock, Self.device, Self.refusal("access_denied"))
        let login = try await oauth.deviceAuthorization()

        let call = Task { try await oauth.credential(confirming: login) }
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))

        await #expect(throws: OAuthError.refused(.accessDenied, description: nil)) { _ = try await call.value }
    }
}
