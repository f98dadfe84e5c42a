import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@testable import SwitchyardOAuth

/// Endpoints that respond with a form instead of the JSON that RFC 6749 requires.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OAuthFormResponseTests {
    private static let now = Date(timeIntervalSince1970: 1000)

    private func oauth(_ answer: StubResponse) throws -> OAuthClient {
        let (client, _) = try NetworkClient.stubbed { _ in answer }
        var settings = OAuthSettings(clientID: "app", tokenEndpoint: "token")
        settings.authorizationEndpoint = "https://login.test/authorize"
        return OAuthClient(settings, client: client, clock: { Self.now })
    }

    private func redeemed(_ answer: StubResponse) async throws -> Credential {
        let oauth = try oauth(answer)
        let login = try oauth.authorization(state: "s")
        let callback = try #require(URL(string: "app://done?code=c&state=s"))
        return try await oauth.credential(redeeming: callback, for: login)
    }

    private static func form(_ text: String, status: Int = 200, type: String?) -> StubResponse {
        .status(status, headers: type.map { ["Content-Type": $0] } ?? [:], body: Data(text.utf8))
    }

    @Test(
        arguments: ["application/x-www-form-urlencoded; charset=utf-8", "text/plain", "text/html; charset=UTF-8", nil]
    )
    func `an OAuth token response may be form-encoded`(type: String?) async throws {
        let text = "access_token=t%2B1&token_type=bearer&expires_in=3600&refresh_token=r+2&scope=\n"

        let credential = try await redeemed(Self.form(text, type: type))

        let expected = Credential.bearer("t+1", expiresAt: Self.now.addingTimeInterval(3600), refreshToken: "r 2")
        #expect(credential == expected)
        #expect(credential.refreshToken == "r 2")
    }

    @Test(arguments: [200, 400])
    func `an OAuth error response may be form-encoded`(status: Int) async throws {
        let text = "error=bad_verification_code&error_description=The+code+has+expired."
        let answer = Self.form(text, status: status, type: "application/x-www-form-urlencoded")

        let expected = OAuthError.refused(
            OAuthError.Code(rawValue: "bad_verification_code"),
            description: "The code has expired."
        )
        await #expect(throws: expected) { _ = try await redeemed(answer) }
    }

    @Test(arguments: ["<html>access_token</html>", "a=b", ""])
    func `an HTML page is a malformed token response`(text: String) async throws {
        let answer = Self.form(text, type: "text/html")

        let error = await #expect(throws: OAuthError.self) { _ = try await redeemed(answer) }
        guard case .malformedResponse? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["app://done?error=access_denied", "app://done?error=access_denied&state="])
    func `an OAuth error callback without a state is reported as that error`(callback: String) async throws {
        let oauth = try oauth(.status(500))
        let login = try oauth.authorization(state: "s")
        let url = try #require(URL(string: callback))

        await #expect(throws: OAuthError.refused(.accessDenied, description: nil)) {
            _ = try await oauth.credential(redeeming: url, for: login)
        }
    }

    @Test(arguments: ["error=access_denied&state=other", "code=c", "code=c&state="])
    func `an OAuth callback with another state, or with a code but no state, is a state mismatch`(query: String)
        async throws
    {
        let oauth = try oauth(.status(500))
        let login = try oauth.authorization(state: "s")
        let url = try #require(URL(string: "app://done?\(query)"))

        await #expect(throws: OAuthError.stateMismatch) { _ = try await oauth.credential(redeeming: url, for: login) }
    }
}
