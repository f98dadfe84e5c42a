import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardClient

@Suite struct FailoverStateTests {
    private let now = MonotonicTime(seconds: 1)

    @Test func `a request stops waiting for an extra-attempt token when another of its attempts has started`() throws {
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

    @Test(arguments: [("http://other.test/", AttemptOutcome.neutral), ("/b", .failure(.timeout))])
    func `an attempt that the deadline ends counts against its server unless it was redirected to another host`(
        location: String,
        outcome: AttemptOutcome
    ) throws {
        let url = try RequestURL(validating: "http://a.test/x")
        var chain = RedirectChain(of: HTTPRequest(url: url))
        _ = try chain.follow(HTTPResponse(status: 302, headers: ["Location": location]), .follow) { _, _ in }
        let attempt = FailoverState.Attempt(
            route: ServerPool.Route(to: ServerPool.Place(try BaseURL("http://a.test/"))),
            url: url,
            trail: Boxed(chain),
            startedAt: now,
            activity: nil,
            isAuthorized: false
        )

        let ending = FailoverState.Ending(result: .failure(.deadlineExceeded), attempts: [attempt], isOverdue: true)

        #expect(ending.outcome(of: 0) == outcome)
    }
}
