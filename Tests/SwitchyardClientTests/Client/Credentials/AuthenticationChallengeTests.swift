import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

@Suite struct AuthenticationChallengeTests {
    private static func challenges(_ value: String) -> [AuthenticationChallenge] {
        AuthenticationChallenge.all(in: [HTTPHeaders.Field(name: "WWW-Authenticate", value: value)])
    }

    @Test(arguments: [
        (#"Basic realm=<site>, Digest realm="x", nonce="n""#, ["basic", "digest"]),
        (#""odd, Basic realm=x", Bearer error="e""#, ["bearer"]),
        (#"=, @, Basic realm="a, Bearer x""#, ["basic"]),
        (#"Basic realm=, Digest realm="x", nonce="n""#, ["basic", "digest"]),
        (#"Bearer realm=https://a.test/t, Basic realm="x""#, ["bearer", "basic"]),
        (#"Negotiate YWJj==, NTLM, Basic realm="x""#, ["negotiate", "ntlm", "basic"]),
        (#"Bearer error="e" @ x, Basic"#, ["bearer", "basic"]), ("@@@", []), (",,", []), ("\"open, Basic", []),
        (#"Basic realm="it"s", Digest realm="x""#, ["basic", "digest"]),
        (#"Basic realm=a"b, Digest realm="x""#, ["basic", "digest"]),
    ])
    func `a part of WWW-Authenticate that cannot be parsed does not hide the challenges after it`(
        value: String,
        schemes: [String]
    ) {
        #expect(Self.challenges(value).map(\.scheme) == schemes)
    }

    @Test func `a challenge after a part that cannot be parsed has its parameters`() {
        let challenges = Self.challenges(#"Basic realm=<a, b>, Digest realm="x", nonce="n""#)

        #expect(challenges.last?.parameters == ["realm": "x", "nonce": "n"])
    }

    @Test func `the parameters after one that cannot be parsed belong to the same challenge`() {
        let challenges = Self.challenges(#"Digest realm="x", domain=/a, opaque="it"s", uri=b/c, nonce="n""#)

        #expect(
            challenges == [
                AuthenticationChallenge(
                    scheme: "digest",
                    parameters: ["realm": "x", "opaque": "it", "uri": "b", "nonce": "n"]
                )
            ]
        )
    }
}
