import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

@Suite struct FailoverStateTests {
    private let now = MonotonicTime(seconds: 1)

    @Test func `a request that waits for the extra-attempt budget stops waiting when another attempt has started`()
        throws
    {
        let url = try RequestURL(validating: "http://a.test/x")
        let route = ServerPool.Route(to: ServerPool.Place(try BaseURL("http://a.test/")))
        var state = FailoverState()
        _ = state.begin()
        let first = state.add(route, url: url, at: now)
        let error = TransportError(.connectionRefused, message: "refused", mayHaveBeenSent: false)
        _ = state.attemptEnded(try #require(first), .failure(.refused), .failure(.transport(error)), .unsent)
        let timer = state.hold(FailoverState.Held(kind: .refused, since: now))
        #expect(timer != nil)

        _ = state.add(route, url: url, at: now)

        guard case .slow = state.look() else {
            Issue.record("the request still waits for a token")
            return
        }
    }

    @Test(arguments: [(true, AttemptOutcome.neutral), (false, .failure(.timeout))])
    func `an attempt that the deadline ends counts against its server unless it was redirected out of the service`(
        isOutsideService: Bool,
        outcome: AttemptOutcome
    ) throws {
        let url = try RequestURL(validating: "http://a.test/x")
        let attempt = FailoverState.Attempt(
            route: ServerPool.Route(to: ServerPool.Place(try BaseURL("http://a.test/"))),
            url: url,
            startedAt: now,
            activity: nil,
            isAuthorized: false,
            isOutsideService: isOutsideService
        )

        let ending = FailoverState.Ending(result: .failure(.deadlineExceeded), attempts: [attempt], isOverdue: true)

        #expect(ending.outcome(of: 0) == outcome)
    }

    @Test func `another check of a slow attempt replaces only a timer that fires after it`() {
        let clock = ManualClock()
        var state = FailoverState()
        _ = state.begin()
        let number = state.claimTimer()
        #expect(state.claimTimer(before: now) == nil)

        let timer = clock.schedule(at: now) {}
        _ = state.replaceTimer(timer, number: number, firingAt: now)

        #expect(state.claimTimer(before: now) == nil)
        #expect(state.claimTimer(before: now.advanced(by: .seconds(1))) == nil)
        #expect(state.claimTimer(before: now.advanced(by: .milliseconds(-1))) == number + 1)
    }
}
