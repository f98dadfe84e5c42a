import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// What interceptors make of a call from round to round.
@Suite(.timeLimit(.minutes(5)), .prompt) struct WriteRoundsTests {
    private static let write = APIConfiguration(path: "pay", method: .post)

    /// The keys with which a write goes out whose server fails each time.
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

    @Test func `a key that an interceptor makes anew in each round stays the first`() async throws {
        let keys = try await keys(
            adaptedBy: .adapting("keys") { call, _ in call.idempotencyKey = .given(UUID().uuidString) }
        )

        #expect(keys.count == 3)
        #expect(Set(keys).count == 1)
    }

    @Test func `a write that an interceptor takes the key from is not sent again`() async throws {
        let keys = try await keys(
            adaptedBy: .adapting("keys") { call, context in
                if context.round == 1 { call.idempotencyKey = .given("one") }
            }
        )

        #expect(keys == ["one"])
    }

    @Test func `a read that an interceptor makes a write is not sent twice`() async throws {
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
