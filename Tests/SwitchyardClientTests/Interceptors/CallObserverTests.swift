import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The order of the events of a call.
@Suite(.timeLimit(.minutes(5)), .prompt) struct CallObserverTests {
    /// Records the name of each method that is called, with the server of an attempt.
    private struct Names: CallObserver {
        let log: EventLog

        func callStarted(_ configuration: APIConfiguration, in event: DispatchEvent) { log.note("callStarted") }

        func roundStarted(_ configuration: APIConfiguration, in event: DispatchEvent) {
            log.note("roundStarted \(event.round)")
        }

        func attemptStarted(_ attempt: AttemptRecord, in event: DispatchEvent) {
            log.note("attemptStarted \(attempt.server ?? "-")")
        }

        func attemptRedirected(_ attempt: AttemptRecord, by step: RedirectStep, in event: DispatchEvent) {
            log.note("attemptRedirected \(step.status)")
        }

        func attemptEnded(
            _ attempt: AttemptRecord,
            with result: Result<HTTPResponse, TransportError>,
            in event: DispatchEvent
        ) {
            let words = (try? result.get().status).map { "\($0)" } ?? "failed"
            log.note("attemptEnded \(attempt.server ?? "-") \(words)")
        }

        func roundEnded(with result: Result<ServiceResponse, RequestFailure>, in event: DispatchEvent) {
            log.note("roundEnded \(event.round)")
        }

        func retryScheduled(after pause: Duration, in event: DispatchEvent) { log.note("retryScheduled") }

        func callEnded(with result: Result<ServiceResponse, RequestFailure>, in event: DispatchEvent) {
            log.note("callEnded")
        }

        func cachedResponseUsed(status: Int, isFresh: Bool, in event: DispatchEvent) { log.note("cachedResponseUsed") }
    }

    /// The events of a call, which differs in its options and in the responses of its servers.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var servers = 1
        var options: @Sendable (inout NetworkClient.Options) -> Void = { _ in }
        let responses: [StubResponse]
        let events: [String]
    }

    private struct Provider: CredentialProvider {
        func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? {
            Credential(.bearer(token: "old"), refreshToken: "refresh")
        }

        func refresh(_ refresh: CredentialRefresh) async throws -> Credential? { Credential(.bearer(token: "new")) }
    }

    static let stories = [
        Story(
            testDescription: "success",
            responses: [.status(200)],
            events: ["roundStarted 1", "attemptStarted primary", "attemptEnded primary 200", "roundEnded 1"]
        ),
        Story(
            testDescription: "redirect",
            responses: [.status(302, headers: ["Location": "/b"]), .status(200)],
            events: [
                "roundStarted 1", "attemptStarted primary", "attemptEnded primary 302", "attemptRedirected 302",
                "attemptStarted primary", "attemptEnded primary 200", "roundEnded 1",
            ]
        ),
        Story(
            testDescription: "failover",
            servers: 2,
            responses: [.failure(.connectionRefused), .status(200)],
            events: [
                "roundStarted 1", "attemptStarted primary", "attemptEnded primary failed", "attemptStarted secondary",
                "attemptEnded secondary 200", "roundEnded 1",
            ]
        ),
        Story(
            testDescription: "retry",
            options: { $0.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero)) },
            responses: [.status(425), .status(200)],
            events: [
                "roundStarted 1", "attemptStarted primary", "attemptEnded primary 425", "roundEnded 1",
                "retryScheduled", "roundStarted 2", "attemptStarted primary", "attemptEnded primary 200",
                "roundEnded 2",
            ]
        ),
        Story(
            testDescription: "refresh after 401",
            options: { $0.credentials = Credentials(provider: Provider()) },
            responses: [.status(401), .status(200)],
            events: [
                "roundStarted 1", "attemptStarted primary", "attemptEnded primary 401", "roundEnded 1",
                "retryScheduled", "roundStarted 2", "attemptStarted primary", "attemptEnded primary 200",
                "roundEnded 2",
            ]
        ),
    ]

    @Test(arguments: stories)
    func `an observer is notified of each event of a call in order`(_ story: Story) async throws {
        let log = EventLog()
        let answers = AnswerList(story.responses)
        let (client, _) = try NetworkClient.stubbed(servers: story.servers) { options in
            story.options(&options)
            options.interceptors = [.observing(Names(log: log))]
        } answer: {
            answers.answer($0)
        }

        _ = try await client.send(.get("a"))

        #expect(await log.events(until: "callEnded") == ["callStarted"] + story.events + ["callEnded"])
    }

    @Test func `a hedge is observed as a second attempt, and the losing attempt has no end event`() async throws {
        let (log, time) = (EventLog(), ManualClock())
        let (client, transport) = try NetworkClient.stubbed(servers: 2, time: time) {
            $0.interceptors = [.observing(Names(log: log))]
        } answer: { request in
            request.server == "primary" ? .never : .status(200)
        }
        let call = Task { try await client.send(.get("a")) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))

        time.advance(by: .milliseconds(250))

        _ = try await call.value
        let events = [
            "callStarted", "roundStarted 1", "attemptStarted primary", "attemptStarted secondary",
            "attemptEnded secondary 200", "roundEnded 1", "callEnded",
        ]
        #expect(await log.events(until: "callEnded") == events)
    }

    @Test(arguments: [true, false])
    func `an observer of a cancelled or timed-out call sees the attempt end before the call`(isCancelled: Bool)
        async throws
    {
        let (log, time) = (EventLog(), ManualClock())
        let (client, transport) = try NetworkClient.stubbed(time: time) {
            $0.interceptors = [.observing(Names(log: log))]
        } answer: { _ in
            .never
        }
        var configuration = APIConfiguration.get("a")
        configuration.timeout = .seconds(2)
        let call = Task { [configuration] in await client.failure(of: configuration) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))

        if isCancelled { client.cancelAll() } else { time.advance(by: .seconds(2)) }

        #expect(await call.value == (isCancelled ? .cancelled : .deadlineExceeded))
        let events = [
            "callStarted", "roundStarted 1", "attemptStarted primary", "attemptEnded primary failed", "callEnded",
        ]
        #expect(await log.events(until: "callEnded") == events)
    }
}
