import SwitchyardClient
import SwitchyardFixtures
import SwitchyardOAuth
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct OAuthOddResponseTests {
    private static func oauth(_ json: String, status: Int = 200) throws -> (OAuthClient, NetworkClient) {
        let (client, _) = try NetworkClient.stubbed(options: { _ in }) { _ in .json(json, status: status) }
        return (OAuthClient(OAuthSettings(clientID: "app", tokenEndpoint: "token"), client: client), client)
    }

    // The old refresh token may be spent, so the new access token must not be discarded.
    @Test(arguments: ["false", "0", "[]", "{}"])
    func `the old refresh token is kept if the new refresh token is not a valid token`(new: String) async throws {
        let (oauth, client) = try Self.oauth(#"{"access_token": "t2", "refresh_token": \#(new)}"#)
        defer { withExtendedLifetime(client) {} }

        #expect(try await oauth.refreshed(.bearer("t", refreshToken: "r")) == .bearer("t2", refreshToken: "r"))
    }

    // Otherwise the app would not learn that a login is required.
    @Test(arguments: ["[\"expired\"]", "{\"text\": \"expired\"}", "1"])
    func `an OAuth error response is recognized even if its description is not a string`(description: String)
        async throws
    {
        let (oauth, client) = try Self.oauth(
            #"{"error": "invalid_grant", "error_description": \#(description)}"#,
            status: 400
        )
        defer { withExtendedLifetime(client) {} }

        await #expect(throws: OAuthError.refused(.invalidGrant, description: nil)) {
            _ = try await oauth.refreshed(.bearer("t", refreshToken: "r"))
        }
    }
}
