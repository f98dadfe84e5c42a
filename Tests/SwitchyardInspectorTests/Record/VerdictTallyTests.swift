import SwitchyardClient
import SwitchyardServices
import Testing

@testable import SwitchyardInspector

@Suite struct VerdictTallyTests {
    /// Returns a call that starts at the given time in milliseconds and takes 100 ms.
    private func call(_ start: Double, _ attempts: [InspectedAttempt], status: Int? = 200, error: String? = nil)
        -> InspectedCall
    {
        var call = InspectedCall(number: 1, start: start, method: "GET", path: "/")
        call.attempts = attempts
        call.end = start + 100
        call.outcome = InspectedCall.Outcome(status: status, error: error)
        return call
    }

    private func attempt(
        _ server: String,
        _ kind: InspectedAttempt.Kind = .first,
        status: Int? = nil,
        error: String? = nil,
        isCut: Bool? = nil
    ) -> InspectedAttempt {
        var attempt = InspectedAttempt(number: 1, round: 1, method: "GET", url: "/", start: 0, kind: kind)
        (attempt.server, attempt.status, attempt.error, attempt.isCut) = (server, status, error, isCut)
        return attempt
    }

    /// The statistics of a server that was only slow.
    private let slowness = HealthStatistics(lastFailure: .overtaken)

    @Test func `a call that succeeded after a failover counts as saved by the client`() {
        var tally = VerdictTally()
        tally.add(call(0, [attempt("a", error: "connectionRefused"), attempt("b", .failover, status: 200)]))
        tally.eject("a", at: 100)

        let verdict = tally.verdict(servers: 2)

        #expect(verdict.headline == "Server a failed. The only call succeeded.")
        #expect(
            verdict.details == [
                "1 call was saved: its first server had failed, but another responded (1 failed over)."
            ]
        )
    }

    @Test func `a hedged call counts as saved if the slow server is ejected within two seconds`() {
        let hedged = call(0, [attempt("a", isCut: true), attempt("b", .hedge, status: 200)])
        var (soon, late) = (VerdictTally(), VerdictTally())
        for _ in 1...3 {
            soon.add(hedged)
            late.add(hedged)
        }

        soon.eject("a", at: 1_000)
        soon.add(hedged)
        late.eject("a", at: 9_000)

        #expect(soon.verdict(servers: 2).details.first?.hasPrefix("4 calls were saved") == true)
        #expect(late.verdict(servers: 2).details.isEmpty)
    }

    @Test func `a call whose first server responded before the hedge does not count as saved`() {
        var tally = VerdictTally()
        tally.add(call(0, [attempt("a", status: 200), attempt("b", .hedge, isCut: true)]))
        tally.eject("b", at: 100)

        #expect(tally.verdict(servers: 2).details.isEmpty)
    }

    @Test func `a period in which every server failed is an outage of all servers`() {
        var tally = VerdictTally()
        for place in 0..<30 {
            let attempts = [
                attempt("a", error: "connectionRefused"), attempt("b", .failover, error: "connectionRefused"),
            ]
            tally.add(call(Double(place) * 100, attempts, status: nil, error: "connectionRefused"))
        }
        tally.add(call(3_000, [attempt("a", status: 200)]))

        let verdict = tally.verdict(servers: 2)

        #expect(verdict.headline == "Both servers were down for 3 s. 30 of 31 calls failed.")
        #expect(tally.verdict(servers: 3).headline == "30 of 31 calls failed: connection refused.")
    }

    @Test
    func
        `the verdict describes servers that are still out of service in the present tense, and names the server in use`()
    {
        var tally = VerdictTally()
        tally.add(call(0, [attempt("a", error: "connectionRefused"), attempt("b", .failover, status: 200)]))
        tally.eject("c", at: 50)
        tally.eject("a", at: 100)

        let verdict = tally.verdict(servers: 3, outOfService: ["a"], current: "b")

        let present = "Server a is out of service, and calls go to b. Server c failed earlier. The only call succeeded."
        #expect(verdict.headline == present)
        let all = tally.verdict(servers: 3, outOfService: ["a", "b", "c"], current: "b")
        #expect(all.headline == "Servers a, b and c are out of service. The only call succeeded.")
    }

    @Test func `the verdict says that failed servers are back when all of them have recovered`() {
        var tally = VerdictTally()
        for server in ["a", "b"] { tally.eject(server, at: 0) }
        tally.add(call(0, [attempt("a", error: "connectionRefused"), attempt("c", .failover, status: 200)]))
        tally.recover("a", after: 200)
        #expect(tally.verdict(servers: 3).headline == "Servers a and b failed. The only call succeeded.")

        tally.recover("b", after: 200)

        #expect(tally.verdict(servers: 3).headline == "Servers a and b failed and are back. The only call succeeded.")
    }

    @Test func `the verdict calls a late server slow until a probe of the server fails`() {
        var tally = VerdictTally()
        tally.add(call(0, [attempt("a", isCut: true), attempt("b", .hedge, status: 200)]))
        tally.eject("a", slowness, .lateness, at: 0)
        let slow = tally.verdict(servers: 2)

        tally.probe("a", succeeded: false)

        #expect(slow.headline == "Server a was slow. The only call succeeded.")
        #expect(slow.details.isEmpty)
        #expect(tally.verdict(servers: 2).details.first?.hasPrefix("1 call was saved") == true)
        #expect(tally.verdict(servers: 2).headline == "Server a failed. The only call succeeded.")
    }

    @Test func `the verdict uses the present perfect for an outage of all servers that has not ended`() {
        var tally = VerdictTally()
        for place in 0..<30 {
            let refused = [attempt("a", error: "connectionRefused")]
            tally.add(call(Double(place) * 100, refused, status: nil, error: "connectionRefused"))
        }

        let headline = tally.verdict(servers: 1, outOfService: ["a"]).headline

        #expect(headline == "The server has been down for 3 s. 30 of 30 calls failed.")
    }

    @Test func `failures in an environment that the client has left are named with the environment`() {
        var tally = VerdictTally()
        tally.eject("a", at: 0)
        tally.eject("b", at: 0)
        tally.add(call(0, [attempt("a", error: "connectionRefused"), attempt("c", .failover, status: 200)]))
        tally.changeEnvironment(from: "release", to: "test")

        let other = tally.verdict(servers: 3).headline
        tally.eject("c", at: 100)
        let both = tally.verdict(servers: 3).headline
        tally.changeEnvironment(from: "test", to: "release")
        let back = tally.verdict(servers: 3).headline

        #expect(other == "In release, servers a and b failed. The only call succeeded.")
        #expect(both == "Server c failed. In release, servers a and b failed. The only call succeeded.")
        #expect(back == "Servers a and b failed. In test, server c failed. The only call succeeded.")
    }

    @Test func `an outage in an environment that the client has left is named with the environment`() {
        var tally = VerdictTally()
        for place in 0..<30 {
            let refused = [attempt("a", error: "connectionRefused")]
            tally.add(call(Double(place) * 100, refused, status: nil, error: "connectionRefused"))
        }
        tally.changeEnvironment(from: "release", to: "test")

        #expect(tally.verdict(servers: 1).headline == "In release, the server was down for 3 s. 30 of 30 calls failed.")
    }

    @Test func `a response with status 404 is a failure, and a cancelled call is not counted`() {
        var tally = VerdictTally()
        tally.add(call(0, [attempt("a", status: 404)], status: 404))
        tally.add(call(0, [attempt("a", isCut: true)], status: nil, error: "cancelled"))

        #expect(tally.verdict(servers: 1).headline == "1 of 1 calls failed with a request error: 404 Not Found.")
    }

    @Test func `the verdict counts the same saved calls as the cards of the servers`() {
        var tally = VerdictTally()
        for server in ["a", "c"] { tally.eject(server, at: 50) }
        tally.add(call(0, [attempt("a", error: "connectionRefused"), attempt("b", .failover, status: 200)]))
        for _ in 1...2 { tally.add(call(0, [attempt("c", isCut: true), attempt("b", .hedge, status: 200)])) }
        // The first server was ejected while the call waited for its response.
        tally.add(call(0, [attempt("c", isCut: true), attempt("b", .failover, status: 200)]))

        let outages = tally.outages.last.values
        #expect(tally.outages.saved == SavedCalls(failedOver: 2, hedged: 2))
        #expect(outages.flatMap(\.failedOver.values).reduce(0, +) == 2)
        #expect(outages.flatMap(\.hedged.values).reduce(0, +) == 2)
        #expect(tally.verdict(servers: 3).details.first?.hasSuffix("(2 failed over, 2 hedged).") == true)
    }

    @Test func `a call that failed over from a slow server counts as saved only after a failed probe of that server`() {
        var tally = VerdictTally()
        tally.eject("a", slowness, .lateness, at: 50)
        tally.add(call(0, [attempt("a", isCut: true), attempt("b", .failover, status: 200)]))
        #expect(tally.outages.saved == SavedCalls())

        tally.probe("a", succeeded: false)

        #expect(tally.outages.saved == SavedCalls(failedOver: 1))
    }

    @Test func `saved calls stay counted after another outage of the server and after a change of the environment`() {
        var tally = VerdictTally()
        let hedged = call(0, [attempt("a", isCut: true), attempt("b", .hedge, status: 200)])
        for time in [0.0, 1_000] {
            tally.eject("a", at: time)
            tally.add(hedged)
            tally.recover("a", after: 500)
        }
        tally.changeEnvironment(from: "release", to: "test")

        #expect(tally.outages.last.isEmpty)
        #expect(tally.outages.saved == SavedCalls(hedged: 2))
    }

    @Test func `a call with a request error after a failover is neither saved nor affected by the outage`() {
        var tally = VerdictTally()
        tally.eject("a", at: 0)
        let attempts = [attempt("a", error: "connectionRefused"), attempt("b", .failover, status: 404)]
        tally.add(call(0, attempts, status: 404))

        #expect(tally.outages.saved == SavedCalls())
        #expect(tally.outages.last["a"]?.calls == 0)
    }

    @Test func `the verdict states why a failed call was not sent to another server`() {
        var tally = VerdictTally()
        var only = attempt("a", error: "connectionReset")
        only.next = "must not be sent again"
        tally.add(call(0, [only], status: nil, error: "connectionReset"))

        #expect(tally.verdict(servers: 2).details == ["No further server was tried: 1 × must not be sent again."])
    }
}

extension VerdictTally {
    /// Records that a server was ejected because its requests failed.
    fileprivate mutating func eject(_ server: String, at time: Double) {
        eject(server, HealthStatistics(), .score, at: time)
    }
}
