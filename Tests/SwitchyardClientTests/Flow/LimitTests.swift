import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct LimitTests {
    /// A limit that counts the requests inside it.
    private final class Turnstile: RequestLimit {
        let inside = Locked(0)
        let entered = Locked(0)
        let refusal: RequestFailure.Reason?

        init(refusing refusal: RequestFailure.Reason? = nil) {
            self.refusal = refusal
        }

        func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
            if let refusal { throw refusal }
            entered.withLock { $0 += 1 }
            inside.withLock { $0 += 1 }
            return LimitPass { [self] in inside.withLock { $0 -= 1 } }
        }
    }

    @Test func `a request enters its request limit again for each retry, and has left the limit when the request ends`()
        async throws
    {
        let limit = Turnstile()
        let answers = AnswerList(503, 503, 200)
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.limits = [limit]
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }) { answers.answer($0) }

        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(limit.entered.withLock { $0 } == 3)
        #expect(limit.inside.withLock { $0 } == 0)
    }

    @Test func `if a request limit throws, the request ends and leaves the limits that it has entered`()
        async throws
    {
        let first = Turnstile()
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.limits = [first, Turnstile(refusing: .rateLimited(retryAfter: .seconds(2)))]
        }) { _ in .status(200) }

        let reason = await client.failure(of: APIConfiguration(path: "x"))

        #expect(reason == .rateLimited(retryAfter: .seconds(2)))
        #expect(first.inside.withLock { $0 } == 0)
        #expect(transport.requestCount == 0)
    }

    @Test func `a cancelled request leaves the request limits that it has entered`() async throws {
        let limit = Turnstile()
        let (client, transport) = try NetworkClient.stubbed(options: { $0.limits = [limit] }) { _ in .never }
        let id = RequestID()

        let call = Task { await client.failure(of: APIConfiguration(path: "x"), id: id) }
        await transport.waitForRequests(1)
        client.cancel(id)

        #expect(await call.value == .cancelled)
        #expect(limit.inside.withLock { $0 } == 0)
    }
}
