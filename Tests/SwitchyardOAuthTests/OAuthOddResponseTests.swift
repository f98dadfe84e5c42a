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

    // What the refresh has cost is spent: the token beside it is good, as with a lifetime that makes no sense.
    @Test(arguments: ["false", "0", "[]", "{}"])
    func `a refresh keeps the old refresh token when the server sends what is none`(new: String) async throws {
        let (oauth, client) = try Self.oauth(#"{"access_token": "t2", "refresh_token": \#(new)}"#)
        defer { withExtendedLifetime(client) {} }

        #expect(try await oauth.refreshed(.bearer("t", refreshToken: "r")) == .bearer("t2", refreshToken: "r"))
    }

    // Else the app is never told that a login is needed.
    @Test(arguments: ["[\"expired\"]", "{\"text\": \"expired\"}", "1"])
    func `a refusal is one, whatever its description is`(description: String) async throws {
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
