import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A round that repeats a request with another credential after a 401 does not count as a retry.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct RetryCountTests {
    @Test func `a request that is sent again after an authentication challenge does not count as a retry`() async throws
    {
        let failures = Locked(1)
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
            $0.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero))
        }) { request in
            guard request.headers["Authorization"] != nil else {
                return .status(401, headers: ["WWW-Authenticate": "Digest realm=r, qop=auth, nonce=n"])
            }
            return failures.withLock { left in
                defer { left -= 1 }
                return .status(left > 0 ? 503 : 200)
            }
        }

        #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
    }

    @Test
    func `a repetition after a credential refresh counts neither as a retry nor towards the retry limit for statuses`()
        async throws
    {
        for limits in [[:], [RetryPolicy.Cause.status: 1]] {
            let credentials = Credentials { _ in .bearer("a1") }
            credentials.set(.bearer("a0"), in: .test)
            let list = AnswerList(401, 503, 200)
            let (client, transport) = try NetworkClient.stubbed(options: {
                var policy = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero))
                policy.limits = limits
                $0.credentials = credentials
                $0.retry = policy
            }) { list.answer($0) }

            #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
            #expect(transport.requestCount == 3)
        }
    }
}
