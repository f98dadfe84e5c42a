import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Row A24: a service may have a hook for failures, which can keep them from the caller.
@Suite(.timeLimit(.minutes(5)), .prompt) struct FailureHookTests {
    private static func client(_ hook: RequestInterceptor, _ answer: StubResponse) throws -> NetworkClient {
        try NetworkClient.stubbed(options: { $0.interceptors = [hook] }, answer: { _ in answer }).client
    }

    @Test func `A24: the hook sees every failed response of the service once, and no other`() async throws {
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

    @Test func `A24: the hook may put a response in place of a failure, and the caller sees no failure`()
        async throws
    {
        let hook = RequestInterceptor.retrying("expired") { round in
            round.status == 401 ? .answer(HTTPResponse(status: 204)) : .undecided
        }

        let answer = try await Self.client(hook, .status(401)).send(APIConfiguration(path: "x"))

        #expect(answer.status == 204)
    }

    @Test func `A24: a hook that handles a failure below HTTP keeps it from the caller too`() async throws {
        let hook = RequestInterceptor.retrying("offline") { round in
            round.transportError?.kind == .offline ? .answer(HTTPResponse(status: 204)) : .undecided
        }

        let answer = try await Self.client(hook, .failure(.offline)).send(APIConfiguration(path: "x"))

        #expect(answer.status == 204)
    }
}
