import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Rules for every request whatever options it has.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct RequestFlowTests {
    @Test func `requests that are cancelled at any moment end exactly once and leave nothing allocated`()
        async throws
    {
        let calls = Locked(0)
        let gate = TokenGate(good: "a1")
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = credentials
            $0.retry = RetryPolicy(maximumRetries: 3, backoff: .constant(.zero))
            $0.interceptors = [
                .adapting { _, context in
                    if context.id.number % 7 == 0 { await Task.yield() }
                    if context.id.number % 31 == 0 { throw SampleError() }
                },
                .retrying { round in
                    await Task.yield()
                    return round.context.id.number % 5 == 0 && round.context.round == 1 ? .retryNow : .undecided
                },
            ]
        }) { request in
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            if number % 11 == 0 { return .status(503) }
            if number % 13 == 0 { return .failure(.connectionReset) }
            return gate.answer(request)
        }
        let ends = Locked<[RequestID: Int]>([:])
        let count = 2000
        let (ended, continuation) = AsyncStream.makeStream(of: Void.self)

        await withTaskGroup { group in
            for worker in 0..<8 {
                group.addTask {
                    for index in 0..<(count / 8) {
                        let id = client.send(APIConfiguration(path: "x"), on: .global()) { result in
                            ends.withLock { $0[result.id, default: 0] += 1 }
                            continuation.yield()
                        }
                        if (index + worker) % 3 == 0 { client.cancel(id) }
                        if index % 10 == worker { await Task.yield() }
                    }
                }
            }
        }
        var heard = 0
        for await _ in ended {
            heard += 1
            if heard == count { break }
        }

        #expect(ends.withLock { $0.count } == count)
        #expect(ends.withLock { $0.values.allSatisfy { $0 == 1 } })
        #expect(client.activeRequests.isEmpty)
        await transport.waitUntilIdle()
        #expect(gate.refreshes == 1)
    }

    @Test func `a request keeps its identifier in all retries, and the identifier cancels it in each retry`()
        async throws
    {
        let answers = AnswerList([.status(503), .never])
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }) { answers.answer($0) }
        let id = RequestID()

        let call = Task { await client.failure(of: APIConfiguration(path: "x"), id: id) }
        await transport.waitForRequests(2)
        #expect(client.activeRequests == [id])
        client.cancel(id)

        #expect(await call.value == .cancelled)
        await transport.waitUntilIdle()
    }

    @Test func `releasing a client cancels its requests, even between two retries`() async throws {
        let clock = ManualClock()
        let (root, _) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.retry = RetryPolicy(backoff: .constant(.seconds(5)))
            }
        ) { _ in .status(503) }
        var scoped: NetworkClient? = root.scoped()
        let (stream, continuation) = AsyncStream.makeStream(of: RequestFailure.Reason?.self)
        scoped?.send(APIConfiguration(path: "x"), on: .global()) { result in
            if case .failure(let failure) = result {
                continuation.yield(failure.reason)
            } else {
                continuation.yield(nil)
            }
        }
        await clock.waitForTimers(1, in: .seconds(5))

        scoped = nil

        for await reason in stream {
            #expect(reason == .cancelled)
            break
        }
        #expect(root.activeRequests.isEmpty)
        await until { clock.pendingTimers == 0 }  // The sleep ends by itself a moment later.
    }

    @Test func `a shutdown ends requests that wait for their next retry`() async throws {
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.retry = RetryPolicy(backoff: .constant(.seconds(5)))
            }
        ) { _ in .status(503) }

        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        await clock.waitForTimers(1, in: .seconds(5))
        client.shutdown()

        #expect(await call.value == .closed)
        #expect(await client.failure(of: APIConfiguration(path: "x")) == .closed)
    }

    @Test func `a request keeps its environment in all retries`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.seconds(5)))
            }
        ) { _ in .status(503) }

        let call = Task { try await client.send(APIConfiguration(path: "x")) }
        await clock.waitForTimers(1, in: .seconds(5))
        try client.switchEnvironment(to: .release)
        clock.advance(by: .seconds(5))

        #expect(try await call.value.context.environment == .test)
        #expect(transport.requests.map(\.url.origin.scheme) == ["http", "http"])
    }

    @Test func `each retry of a request has its own signature, which covers the credentials`() async throws {
        let answers = AnswerList(503, 200)
        let signer = RequestSigner(
            .hmacSHA256(key: Data("key".utf8)),
            of: .canonical(headers: ["Authorization", "X-Round"]),
            in: .header("X-Signature")
        )
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.bearer("t"))
            $0.generator.modifiers = [signer.sign]
            $0.retry = RetryPolicy(backoff: .constant(.zero))
            $0.interceptors = [
                .adapting { configuration, context in configuration.headers["X-Round"] = "\(context.round)" }
            ]
        }) { answers.answer($0) }

        _ = try await client.send(APIConfiguration(path: "x"))

        for request in transport.requests {
            var unsigned = request
            unsigned.headers["X-Signature"] = nil
            try signer.sign(&unsigned)
            #expect(unsigned.headers["X-Signature"] == request.headers["X-Signature"])
            #expect(request.headers["Authorization"] == "Bearer t")
        }
        #expect(Set(transport.requests.map { $0.headers["X-Signature"] }).count == 2)
    }
}

extension Result where Success == ServiceResponse, Failure == RequestFailure {
    fileprivate var id: RequestID {
        switch self {
        case .success(let answer): answer.id
        case .failure(let failure): failure.id
        }
    }
}
