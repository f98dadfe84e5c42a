import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct AdaptTests {
    private static func appending(_ letter: String) -> RequestInterceptor {
        .adapting(letter) { configuration, _ in
            configuration.headers["X-Order"] = (configuration.headers["X-Order"] ?? "") + letter
        }
    }

    @Test func `the client's interceptors adapt a request in order and before the call's interceptors`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.interceptors = [Self.appending("a"), Self.appending("b")]
        }) { _ in .status(200) }
        var configuration = APIConfiguration(path: "x")
        configuration.interceptors = [Self.appending("c"), Self.appending("d")]

        _ = try await client.send(configuration)

        #expect(transport.requests.map { $0.headers["X-Order"] } == ["abcd"])
    }

    @Test func `an interceptor that throws ends the request before it is sent`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.interceptors = [.adapting("gate") { _, _ in throw SampleError() }]
        }) { _ in .status(200) }

        let reason = await client.failure(of: APIConfiguration(path: "x"))

        #expect(reason == .vetoed(InterceptorError(name: "gate", underlying: SampleError())))
        #expect(transport.requestCount == 0)
        #expect(client.activeRequests.isEmpty)
    }

    @Test
    func `an interceptor receives the identifier, the retry number, the service and the environment of a request`()
        async throws
    {
        let seen = Locked<[String]>([])
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [
                .adapting { _, context in
                    let text = "\(context.id) \(context.round) \(context.service) \(context.environment)"
                    seen.withLock { $0.append(text) }
                }
            ]
        }) { _ in .status(200) }
        let id = RequestID()

        _ = try await client.send(APIConfiguration(path: "x"), id: id)

        #expect(seen.withLock { $0 } == ["\(id) 1 topics test"])
    }

    @Test func `an interceptor may send a request of its own and then replace the request`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: { _ in }) { _ in .status(200) }
        var configuration = APIConfiguration(path: "old")
        configuration.interceptors = [
            .adapting { configuration, _ in
                _ = try await client.send(APIConfiguration(path: "permission"))
                configuration = APIConfiguration(path: "new", method: .put)
            }
        ]

        _ = try await client.send(configuration)

        #expect(transport.requests.map { "\($0.method) \($0.url.path)" } == ["GET /v1/permission", "PUT /v1/new"])
    }

    @Test func `an interceptor's change to a request is not kept for the next retry`() async throws {
        let answers = AnswerList(503, 200)
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.interceptors = [Self.appending("a")]
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }) { answers.answer($0) }

        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(transport.requests.map { $0.headers["X-Order"] } == ["a", "a"])
    }

    @Test func `an automatic idempotency key from an interceptor is the same in every retry`() async throws {
        let answers = AnswerList(503, 200)
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.interceptors = [.adapting { configuration, _ in configuration.idempotencyKey = .automatic }]
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }) { answers.answer($0) }

        _ = try await client.send(APIConfiguration(path: "x", method: .post))

        let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys.count == 2)
        #expect(keys[0] != nil && keys[0] == keys[1])
    }

    @Test func `the deadline ends a request whose adapting interceptor never returns`() async throws {
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.interceptors = [
                    .adapting { _, _ in await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
                ]
            }
        ) { _ in .status(200) }

        let call = Task { await client.failure(of: APIConfiguration(path: "x", timeout: .seconds(5))) }
        await clock.waitForTimers(1)
        clock.advance(by: .seconds(5))

        #expect(await call.value == .deadlineExceeded)
        #expect(client.activeRequests.isEmpty)
    }

    @Test func `a cancel ends a request whose adapting interceptor never returns`() async throws {
        let reached = AsyncStream.makeStream(of: Void.self)
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.interceptors = [
                .adapting { _, _ in
                    reached.continuation.yield()
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            ]
        }) { _ in .status(200) }
        let id = RequestID()

        let call = Task { await client.failure(of: APIConfiguration(path: "x"), id: id) }
        for await _ in reached.stream { break }
        client.cancel(id)

        #expect(await call.value == .cancelled)
        #expect(transport.requestCount == 0)
    }
}
