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

    @Test func `a call that succeeded after a failover counts as saved by the client`() {
        var tally = VerdictTally()
        tally.add(call(0, [attempt("a", error: "connectionRefused"), attempt("b", .failover, status: 200)]))
        tally.eject("a", at: 100)

        let verdict = tally.verdict(servers: 2)

        #expect(verdict.headline == "Server a failed. The only call succeeded.")
        #expect(verdict.details == ["1 call was saved: it succeeded although its first server had failed."])
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

    @Test func `a call whose first server responded before the hedging attempt does not count as saved`() {
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
        tally.recover("a")
        #expect(tally.verdict(servers: 3).headline == "Servers a and b failed. The only call succeeded.")

        tally.recover("b")

        #expect(tally.verdict(servers: 3).headline == "Servers a and b failed and are back. The only call succeeded.")
    }

    @Test func `a server that was late is called slow, and a failed probe shows that it failed`() {
        var tally = VerdictTally()
        tally.add(call(0, [attempt("a", isCut: true), attempt("b", .hedge, status: 200)]))
        tally.eject("a", isSlow: true, at: 0)
        let slow = tally.verdict(servers: 2)

        tally.failProbe("a")

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

        #expect(tally.verdict(servers: 1).headline == "1 of 1 calls failed: 404 Not Found.")
    }
}
