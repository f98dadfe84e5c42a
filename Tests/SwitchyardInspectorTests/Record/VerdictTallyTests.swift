import SwitchyardClient
import SwitchyardServices
import Testing

@testable import SwitchyardInspector

@Suite struct VerdictTallyTests {
    /// A call that starts at a time in milliseconds and takes 100 ms.
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

        #expect(verdict.headline == "Server a failed. No caller got an error: all 1 calls succeeded.")
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

    @Test func `a response with status 404 is a failure, and a cancelled call is not counted`() {
        var tally = VerdictTally()
        tally.add(call(0, [attempt("a", status: 404)], status: 404))
        tally.add(call(0, [attempt("a", isCut: true)], status: nil, error: "cancelled"))

        #expect(tally.verdict(servers: 1).headline == "1 of 1 calls failed: 404 Not Found.")
    }
}
