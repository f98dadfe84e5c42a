import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Events that end calls from outside, in every state of a call.
///
/// Each call ends once, with the expected reason, and leaves nothing allocated.
@Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct CallStateTests {
    /// The state that a call is in.
    enum Stage: CaseIterable {
        case answer, hedge, redirect, shared, upload, place, turn, quiet, pause, network, reachability, refresh
        case head, body, reconnection
    }

    /// The event that ends the call.
    enum Event: CaseIterable {
        case task, client, shutdown, environment, reset

        var reason: RequestFailure.Reason { self == .shutdown ? .closed : .cancelled }
    }

    @Test(arguments: Stage.allCases, Event.allCases)
    func `a cancel, shutdown, environment switch or reset ends a call in any state and leaves no resources`(
        _ stage: Stage,
        _ event: Event
    ) async throws {
        let lab = try CallLab(stage)
        let call = Task { await lab.reason() }
        await until { lab.isThere }

        switch event {
        case .task: call.cancel()
        case .client: lab.client.cancelAll()
        case .shutdown: lab.client.shutdown()
        case .environment: try lab.client.switchEnvironment(to: .release, cancelsActiveRequests: true)
        case .reset: try lab.client.reset()
        }

        #expect(await call.value == event.reason)
        lab.door.open()
        lab.client.cancelAll()
        await until { lab.isEmpty }
    }
}

/// A call that reaches one state and stays there.
private final class CallLab: Sendable {
    let client: NetworkClient
    let door = Gate()
    private let stage: CallStateTests.Stage
    private let clock = ManualClock()
    private let transport: StubTransport
    private let places = ConcurrencyLimit(total: 1)
    private let rate = RateLimit(.interval(.seconds(60)))
    private let quiet = Debounce(.seconds(60))
    private let waits = Locked(0)

    init(_ stage: CallStateTests.Stage) throws {
        self.stage = stage
        transport = StubTransport { [clock] request in
            let path = request.url.text
            if path.hasSuffix("busy") { return .never }
            switch stage {
            case .redirect where !path.hasSuffix("next"): return .status(302, headers: ["Location": "next"])
            case .pause: return .status(503)
            case .network: return .failure(.offline)
            case .turn: return .status(200)
            case .body: return .chunks([Data("one".utf8)], every: .seconds(60), on: clock)
            case .reconnection: return .failure(.connectionReset)
            default: return .never
            }
        }
        var options = NetworkClient.Options(seed: 1)
        switch stage {
        case .place: options.limits = [places]
        case .turn: options.limits = [rate]
        case .quiet: options.limits = [quiet]
        case .reachability:
            let network = ManualReachability(.notReachable)
            options.limits = [ReachabilityLimit(network, whenOffline: .wait(atMost: .seconds(60)))]
        case .refresh:
            options.credentials = Credentials { [door] _ in
                await door.pass()
                return .bearer("new")
            }
        case .pause: options.retry = RetryPolicy(backoff: .constant(.seconds(60)))
        case .network:
            var policy = RetryPolicy()
            policy.networkWait = .seconds(60)
            options.retry = policy
        default: break
        }
        let waits = waits
        if options.retry != nil {
            options.interceptors = [
                .observing("ends") { event in
                    if case .roundEnded = event.kind { waits.withLock { $0 += 1 } }
                }
            ]
        }
        client = try NetworkClient(
            service: try Service.topics(servers: stage == .hedge ? 2 : 1),
            transport: transport,
            options: options,
            time: clock
        )
        if stage == .place { client.send(APIConfiguration(path: "busy"), on: .global()) { _ in } }
        // A different deadline, so that its timer is not mistaken for the timer of the waiting call.
        let first = APIConfiguration(path: "first", timeout: .seconds(7_200))
        if stage == .turn { client.send(first, on: .global()) { _ in } }
    }

    /// Sends the call and returns the reason why it ended.
    func reason() async -> RequestFailure.Reason? {
        if stage == .place { await until { places.runningCount == 1 } }
        if stage == .turn { await until { transport.requestCount == 1 } }
        var call = APIConfiguration(path: "call", timeout: .seconds(3_600))
        if stage == .shared { call.sharing = .identical }
        if stage == .upload { call.method = .post }
        do {
            switch stage {
            case .head: _ = try await client.stream(call)
            case .body: _ = try await client.download(DownloadConfiguration(call))
            case .upload: _ = try await client.upload(UploadConfiguration(call, from: .data(Data(count: 100_000))))
            case .reconnection: for try await _ in client.eventSource(call) {}
            default: _ = try await client.send(call)
            }
            return nil
        } catch {
            return Self.reason(of: error)
        }
    }

    private static func reason(of error: any Error) -> RequestFailure.Reason? {
        switch error {
        case let failure as RequestFailure: failure.reason
        case let failure as DownloadFailure: if case .request(let reason) = failure.reason { reason } else { nil }
        case EventSourceFailure.request(let failure): failure.reason
        default: nil
        }
    }

    /// Whether the call has reached its state.
    var isThere: Bool {
        switch stage {
        case .answer, .shared, .upload, .head: return transport.openExchanges == 1
        case .hedge:
            if transport.openExchanges == 1, clock.pendingTimers > 0 { clock.advance(by: .seconds(1)) }
            return transport.openExchanges == 2
        case .redirect: return transport.requestCount == 2 && transport.openExchanges == 1
        case .place: return places.waitingCount == 1
        case .turn: return rate.waitingCount == 1 && clock.nextDeadline == clock.now.advanced(by: .seconds(60))
        case .quiet: return quiet.waitingCount == 1 && clock.nextDeadline == clock.now.advanced(by: .seconds(60))
        case .pause, .network: return waits.withLock { $0 } == 1
        case .reachability: return clock.pendingTimers == 2
        case .refresh: return !client.activeRequests.isEmpty && clock.pendingTimers == 2
        case .body: return transport.openExchanges == 1 && clock.pendingTimers > 0
        case .reconnection: return clock.nextDeadline == clock.now.advanced(by: .seconds(3))
        }
    }

    /// Whether the call has left no resources.
    var isEmpty: Bool {
        !client.isLoading && transport.openExchanges == 0 && places.runningCount == 0 && places.waitingCount == 0
            && rate.waitingCount == 0 && quiet.waitingCount == 0 && clock.pendingTimers == (stage == .turn ? 1 : 0)
    }
}
