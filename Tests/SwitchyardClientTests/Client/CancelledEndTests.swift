import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A call that is cancelled while the end of its request is being processed.
@Suite(.timeLimit(.minutes(5)), .prompt) struct CancelledEndTests {
    @Test(arguments: [StubResponse.status(200), .status(504), .failure(.connectionReset)])
    func `a cancelled write reports that the server may have executed it`(end: StubResponse) async throws {
        let time = HookedTime()
        let transport = StubTransport { _ in .delayed(by: .seconds(5), on: time.clock, end) }
        var options = NetworkClient.Options(seed: 1)
        options.retry = .never
        options.interceptors = [.adapting("nothing") { _, _ in }]
        let client = try NetworkClient(
            service: try Service.topics(servers: 1),
            transport: transport,
            options: options,
            time: time
        )
        let result = Task {
            await client.result(of: APIConfiguration(path: "pay", method: .post, timeout: .seconds(60)))
        }
        #expect(await transport.waitForRequests(1))
        #expect(await time.clock.waitForTimers(3))
        // After the check for a slow attempt, which sets another timer.
        time.clock.advance(by: .seconds(4))
        time.beforeCancel { client.cancelAll() }

        time.clock.advance(by: .seconds(1))

        let failure = try #require(await result.value.failure)
        #expect(failure.reason == .cancelled)
        #expect(failure.mayHaveBeenExecuted)
    }
}

/// A clock that calls an action when a timer is cancelled for the first time.
private final class HookedTime: TimeSource {
    private struct Timer: ScheduledTimer {
        let base: any ScheduledTimer
        let time: HookedTime

        func cancel() {
            time.runAction()
            base.cancel()
        }
    }

    let clock = ManualClock()
    private let action = Locked<(@Sendable () -> Void)?>(nil)

    var now: MonotonicTime { clock.now }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        Timer(base: clock.schedule(at: deadline, action), time: self)
    }

    func beforeCancel(_ action: @escaping @Sendable () -> Void) {
        self.action.withLock { $0 = action }
    }

    private func runAction() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
