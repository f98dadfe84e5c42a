import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct DecideTests {
    private static func client(
        _ interceptors: [RequestInterceptor],
        time: ManualClock = ManualClock(),
        _ statuses: Int...
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        let answers = AnswerList(statuses.map { .status($0) })
        return try NetworkClient.stubbed(time: time, options: { $0.interceptors = interceptors }) { answers.answer($0) }
    }

    @Test func `the first retry decision wins, and the client's interceptors decide before the call's interceptors`()
        async throws
    {
        let asked = Locked<[String]>([])
        let note: @Sendable (String) -> Void = { name in asked.withLock { $0.append(name) } }
        let (client, transport) = try Self.client(
            [
                .retrying { _ in
                    note("a")
                    return .undecided
                },
                .retrying { round in
                    note("b")
                    return round.context.round == 1 ? .retryNow : .accept
                },
            ],
            500
        )
        var configuration = APIConfiguration(path: "x")
        configuration.interceptors = [
            .retrying { _ in
                note("c")
                return .retryNow
            }
        ]

        let answer = try await client.send(configuration)

        #expect(answer.status == 500)
        #expect(transport.requestCount == 2)
        #expect(asked.withLock { $0 } == ["a", "b", "a", "b"])
    }

    @Test func `an interceptor's decision may ask for a delay before the next retry`() async throws {
        let clock = ManualClock()
        let (client, transport) = try Self.client(
            [.retrying { $0.status == 202 ? .retry(after: .seconds(3)) : .undecided }],
            time: clock,
            202,
            200
        )

        let call = Task { try await client.send(APIConfiguration(path: "x")) }
        await clock.waitForTimers(1, in: .seconds(3))
        #expect(transport.requestCount == 1)
        clock.advance(by: .seconds(3))

        #expect(try await call.value.status == 200)
        #expect(transport.requestCount == 2)
    }

    @Test func `an interceptor's decision may turn a success into an error`() async throws {
        let (client, _) = try Self.client([.retrying("checker") { _ in .fail(SampleError()) }], 200)

        let reason = await client.failure(of: APIConfiguration(path: "x"))

        #expect(reason == .vetoed(InterceptorError(name: "checker", underlying: SampleError())))
    }

    @Test func `an interceptor's decision may replace a failure with a response of its own`() async throws {
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [.retrying { _ in .answer(HTTPResponse(status: 203)) }]
        }) { _ in .failure(.connectionReset) }

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.status == 203)
    }

    @Test func `an interceptor that throws while deciding ends the request with that error`() async throws {
        let (client, _) = try Self.client([.retrying("thrower") { _ in throw SampleError() }], 200)

        let reason = await client.failure(of: APIConfiguration(path: "x"))

        #expect(reason == .vetoed(InterceptorError(name: "thrower", underlying: SampleError())))
    }

    @Test func `an interceptor's error contains the failure that the interceptor has replaced`() async throws {
        for fails in [true, false] {
            let (client, _) = try NetworkClient.stubbed(options: {
                $0.interceptors = [
                    .retrying("refresh") { _ in
                        if fails { return .fail(SampleError()) }
                        throw SampleError()
                    }
                ]
            }) { _ in .failure(.connectionReset) }

            let reason = await client.failure(of: APIConfiguration(path: "x"))

            #expect(reason == .vetoed(InterceptorError(name: "refresh", underlying: SampleError())))
            guard case .vetoed(let veto) = reason, case .transport(let error) = veto.original?.reason else {
                Issue.record("the failure of the round is missing")
                return
            }
            #expect(veto.underlying is SampleError)
            #expect(error.kind == .connectionReset)
        }
    }

    @Test func `an interceptor cannot repeat a write that may have been executed`() async throws {
        let (client, transport) = try Self.client([.retrying { _ in .retryNow }], 500)

        let answer = try await client.send(APIConfiguration(path: "x", method: .post))

        #expect(answer.status == 500)
        #expect(transport.requestCount == 1)
    }

    @Test func `an interceptor can read the status and the server of each earlier round of attempts`() async throws {
        let rounds = Locked<[DispatchContext.RoundRecord]>([])
        let (client, _) = try Self.client(
            [
                .retrying { round in
                    guard round.context.round < 3 else { return .undecided }
                    return .retryNow
                },
                .retrying { round in
                    rounds.withLock { $0 = round.context.history }
                    return .undecided
                },
            ],
            500,
            404,
            200
        )

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.context.rounds == 3)
        #expect(answer.context.attempts == 3)
        #expect(rounds.withLock { $0 }.map(\.status) == [500, 404])
        #expect(rounds.withLock { $0 }.map(\.context.server) == ["primary", "primary"])
    }

    @Test func `the transfer metrics of a request are kept for each retry`() async throws {
        let rounds = Locked<[DispatchContext.RoundRecord]>([])
        let answers = AnswerList(
            [Int64(7), 3].map { count in
                var metrics = TransferMetrics(total: .milliseconds(count))
                metrics.bytesReceived = count
                return .response(HTTPResponse(status: 200, body: .whole(Data()), metrics: metrics))
            }
        )
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [
                .retrying { round in
                    rounds.withLock { $0 = round.context.history }
                    return round.context.round == 1 ? .retryNow : .undecided
                }
            ]
        }) { answers.answer($0) }

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(rounds.withLock { $0 }.map(\.metrics?.bytesReceived) == [7])
        #expect(answer.response.metrics?.bytesReceived == 3)
    }

    @Test func `a request ends at its deadline if an interceptor never returns its decision`() async throws {
        let clock = ManualClock()
        let (client, _) = try Self.client(
            [.retrying { _ in await withUnsafeContinuation { (_: UnsafeContinuation<RetryDecision, Never>) in } }],
            time: clock,
            200
        )

        let call = Task { await client.failure(of: APIConfiguration(path: "x", timeout: .seconds(5))) }
        await clock.waitForTimers(1)
        clock.advance(by: .seconds(5))

        #expect(await call.value == .deadlineExceeded)
    }

    @Test func `an interceptor may send another request while it decides`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: { _ in }) { _ in .status(200) }
        var configuration = APIConfiguration(path: "x")
        configuration.interceptors = [
            .retrying { _ in
                .answer(try await client.send(APIConfiguration(path: "y")).response)
            }
        ]

        _ = try await client.send(configuration)

        #expect(transport.requests.map(\.url.path) == ["/v1/x", "/v1/y"])
    }
}
