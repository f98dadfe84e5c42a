import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

@Suite struct DigestQuoteTests {
    @Test func `a quotation mark in a realm is escaped even before a combining character`() throws {
        let realm = "a\"\u{301}, x=1"
        let challenge = AuthenticationChallenge(scheme: "digest", parameters: ["realm": realm, "nonce": "n"])
        let answer = try #require(DigestResponse(challenge))
        let request = try BuiltRequest.request(APIConfiguration(path: "x"))

        let field = try answer.field(user: "u", password: "p", request: request, count: 1, clientNonce: "c")

        let read = AuthenticationChallenge.all(in: [HTTPHeaders.Field(name: "WWW-Authenticate", value: field)]).first
        #expect(read?.parameters["realm"].map { Array($0.utf8) } == Array(realm.utf8))
        #expect(read?.parameters["x"] == nil)
    }
}
