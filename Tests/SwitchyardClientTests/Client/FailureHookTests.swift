import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A service may have an interceptor for failures, which can hide failures from the caller.
@Suite(.timeLimit(.minutes(5)), .prompt) struct FailureHookTests {
    private static func client(_ hook: RequestInterceptor, _ answer: StubResponse) throws -> NetworkClient {
        try NetworkClient.stubbed(options: { $0.interceptors = [hook] }, answer: { _ in answer }).client
    }

    @Test func `an interceptor receives every error response of the service once`() async throws {
        let seen = Locked<[Int]>([])
        let hook = RequestInterceptor.retrying("failures") { round in
            if let status = round.status, status >= 400 { seen.withLock { $0.append(status) } }
            return .undecided
        }
        let answers = AnswerList(401, 200, 403, 200)
        let (client, _) = try NetworkClient.stubbed(options: { $0.interceptors = [hook] }) { answers.answer($0) }

        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await client.send(APIConfiguration(path: "x")).status) }

        #expect(seen.withLock { $0 } == [401, 403])
        #expect(statuses == [401, 200, 403, 200])
    }

    @Test func `an interceptor may replace a 401 with a success`()
        async throws
    {
        let hook = RequestInterceptor.retrying("expired") { round in
            round.status == 401 ? .answer(HTTPResponse(status: 204)) : .undecided
        }

        let answer = try await Self.client(hook, .status(401)).send(APIConfiguration(path: "x"))

        #expect(answer.status == 204)
    }

    @Test func `an interceptor may replace a transport error with a success`() async throws {
        let hook = RequestInterceptor.retrying("offline") { round in
            round.transportError?.kind == .offline ? .answer(HTTPResponse(status: 204)) : .undecided
        }

        let answer = try await Self.client(hook, .failure(.offline)).send(APIConfiguration(path: "x"))

        #expect(answer.status == 204)
    }
}
