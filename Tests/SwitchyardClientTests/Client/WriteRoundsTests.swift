import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// How interceptors and modifiers change a call from round to round.
@Suite(.timeLimit(.minutes(5)), .prompt) struct WriteRoundsTests {
    private static let write = APIConfiguration(path: "pay", method: .post)

    /// The idempotency keys of a write whose server always fails.
    private func keys(adaptedBy interceptor: RequestInterceptor) async throws -> [String?] {
        let keys = Locked<[String?]>([])
        let (client, _) = try NetworkClient.stubbed { options in
            options.interceptors = [interceptor]
            options.retry = RetryPolicy(maximumRetries: 2, backoff: .constant(.zero))
        } answer: { request in
            keys.withLock { $0.append(request.headers["Idempotency-Key"]) }
            return .failure(.connectionReset)
        }
        _ = await client.result(of: Self.write)
        return keys.withLock { $0 }
    }

    @Test func `the first idempotency key is kept if an interceptor sets a new key for each retry`() async throws {
        let keys = try await keys(
            adaptedBy: .adapting("keys") { call, _ in call.idempotencyKey = .given(UUID().uuidString) }
        )

        #expect(keys.count == 3)
        #expect(Set(keys).count == 1)
    }

    @Test func `a write is not sent again if an interceptor removes its idempotency key`() async throws {
        let keys = try await keys(
            adaptedBy: .adapting("keys") { call, context in
                if context.round == 1 { call.idempotencyKey = .given("one") }
            }
        )

        #expect(keys == ["one"])
    }

    @Test func `a PUT that failed on one server and did not reach another server is retried`() async throws {
        let primary = AnswerList([.status(500), .status(200)])
        var policy = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero))
        policy.statuses = [500]
        let (client, transport) = try NetworkClient.stubbed(servers: 2) { [policy] in
            $0.retry = policy
        } answer: { request in
            request.server == "primary" ? primary.answer(request) : .failure(.connectionRefused)
        }

        #expect(try await client.send(APIConfiguration(path: "x", method: .put)).status == 200)
        #expect(transport.requests.map(\.server) == ["primary", "secondary", "primary"])
    }

    @Test(arguments: [StubResponse.failure(.connectionReset), .status(504), .status(503)])
    func `a read that a modifier turns into a write is sent once`(answer: StubResponse) async throws {
        let methods = Locked<[HTTPMethod]>([])
        var options = NetworkClient.Options(seed: 1)
        options.generator.modifiers = [{ $0.method = .post }]
        options.retry = RetryPolicy(maximumRetries: 3, backoff: .constant(.zero))
        let transport = StubTransport { request in
            methods.withLock { $0.append(request.method) }
            return answer
        }
        let service = try Service.topics(servers: 2)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: ManualClock())

        let result = await client.result(of: APIConfiguration(path: "pay"))

        #expect(methods.withLock { $0 } == [.post])
        switch result {
        case .success(let response): #expect(response.context.mayHaveBeenExecuted)
        case .failure(let failure): #expect(failure.mayHaveBeenExecuted)
        }
    }

    @Test func `a read that an interceptor turns into a write is sent once as a write`() async throws {
        let methods = Locked<[HTTPMethod]>([])
        let (client, _) = try NetworkClient.stubbed { options in
            options.interceptors = [
                .adapting("methods") { call, context in if context.round > 1 { call.method = .post } }
            ]
            options.retry = RetryPolicy(maximumRetries: 3, backoff: .constant(.zero))
        } answer: { request in
            methods.withLock { $0.append(request.method) }
            return .failure(.connectionReset)
        }
        _ = await client.result(of: APIConfiguration(path: "pay"))

        #expect(methods.withLock { $0 } == [.get, .post])
    }
}
