import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// The attempts that a response and a failure list.
@Suite(.timeLimit(.minutes(5)), .prompt) struct AttemptHistoryTests {
    private let time = ManualClock()

    /// The kind, the server, the ending and the next step of each attempt.
    private func lines(_ attempts: [CallAttempt]) -> [String] {
        attempts.map { "\($0.kind) \($0)" }
    }

    @Test func `a call with one attempt lists that attempt`() async throws {
        let (client, _) = try NetworkClient.stubbed(time: time) { [time] _ in
            time.advance(by: .milliseconds(40))
            return .status(200)
        }

        let response = try await client.send(APIConfiguration(path: "list"))

        #expect(lines(response.attempts) == ["first 0 ms primary: 200 after 40 ms"])
        guard case .single = response.context.history else {
            Issue.record("a single attempt needs a list")
            return
        }
    }

    @Test func `the attempt history of a call lists a failed attempt before the failover that it caused`() async throws
    {
        let (client, _) = try NetworkClient.stubbed(time: time) { [time] request in
            time.advance(by: .milliseconds(2))
            return request.server == "primary" ? .failure(.connectionRefused) : .status(200)
        }

        let response = try await client.send(APIConfiguration(path: "list"))

        #expect(
            lines(response.attempts) == [
                "first 0 ms primary: connection refused after 2 ms -> next server",
                "failover 2 ms secondary: 200 after 2 ms",
            ]
        )
    }

    @Test func `the attempt history of a call lists a slow attempt before its hedge`() async throws {
        let (client, transport) = try NetworkClient.stubbed(time: time) { request in
            request.server == "primary" ? .never : .status(200)
        }
        let response = Task { try await client.send(APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))

        time.advance(by: .milliseconds(250))

        #expect(
            lines(try await response.value.attempts) == [
                "first 0 ms primary: no response within 250 ms -> hedge",
                "hedge 250 ms secondary: 200 after 0 ms",
            ]
        )
    }

    /// The guards that a client with stubbed servers can reach, and the requests that they stop.
    private static let stopped: [(HTTPMethod, StubResponse, servers: Int, FailoverGuard)] = [
        (.get, .status(503), 1, .servers), (.get, .failure(.connectionReset), 3, .attemptLimit),
        (.post, .failure(.timeout), 3, .resendRule),
    ]

    @Test(arguments: stopped.indices)
    func `the last attempt of a failed call states why no failover followed`(_ index: Int) async throws {
        let (method, answer, servers, obstacle) = Self.stopped[index]
        let (client, _) = try NetworkClient.stubbed(servers: servers, time: time) { _ in answer }

        let result = await client.result(of: APIConfiguration(path: "list", method: method))

        #expect(result.context.history.attempts.last?.next == .stopped(obstacle))
    }

    @Test func `when a deadline ends a call, its history lists the attempts that were in progress`() async throws {
        let (client, transport) = try NetworkClient.stubbed(servers: 1, time: time) { _ in .never }
        let result = Task { await client.result(of: APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))

        while client.isLoading { time.advance(by: .milliseconds(500)) }

        #expect(lines(await result.value.context.history.attempts) == ["first 0 ms primary: no response within 2.00 s"])
    }

    @Test func `the attempts of a retried call are listed in order, with times since the dispatch`() async throws {
        let answers = AnswerList([.status(503), .status(200)])
        let time = time
        let (client, _) = try NetworkClient.stubbed(
            time: time,
            options: { $0.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.milliseconds(100))) },
            answer: answers.answer
        )
        let response = Task { try await client.send(APIConfiguration(path: "list")) }
        #expect(await time.waitForTimers(1, in: .milliseconds(100)))

        time.advance(by: .milliseconds(100))

        #expect(
            lines(try await response.value.attempts) == [
                "first 0 ms primary: 503 after 0 ms -> retry",
                "retry 100 ms primary: 200 after 0 ms",
            ]
        )
    }

    @Test func `the attempt history of a call with many retries keeps the first and the latest attempts`() {
        var history = AttemptHistory.none
        for number in 0..<250 {
            history.append(.many([CallAttempt(server: "\(number)", duration: .zero, ending: .cancelled)]))
        }

        #expect(history.attempts.count == AttemptHistory.limit)
        #expect(history.attempts.first?.server == "0")
        #expect(history.attempts.last?.server == "249")
    }
}
