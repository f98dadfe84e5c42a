import SwitchyardClient
import SwitchyardServices
import Testing

@testable import SwitchyardInspector

@Suite struct ServerOutageTests {
    /// Returns a call that fails over from `a` to `b`, and whose only request to `a` starts at the given time in
    /// milliseconds.
    private func call(_ start: Double) -> InspectedCall {
        var call = InspectedCall(number: 1, start: start, method: "GET", path: "/")
        for (server, kind) in [("a", InspectedAttempt.Kind.first), ("b", .failover)] {
            var attempt = InspectedAttempt(number: 1, round: 1, method: "GET", url: "/", start: start, kind: kind)
            attempt.server = server
            if server == "a" { attempt.error = "connectionRefused" } else { attempt.status = 200 }
            call.attempts.append(attempt)
        }
        call.end = start + 10
        call.outcome = InspectedCall.Outcome(status: 200, error: nil)
        return call
    }

    @Test(arguments: [0, 1, 2])
    func `an outage starts with its first failure, even if the failed call is reported after the server's ejection`(
        reported: Int
    ) {
        var outages = ServerOutages()
        let calls = [call(100), call(120)]

        for call in calls.prefix(reported) { outages.add(call) }
        outages.eject("a", HealthStatistics(), .score, at: 125)
        for call in calls.dropFirst(reported) { outages.add(call) }

        #expect(outages.last["a"]?.since == 100)
        #expect(outages.last["a"]?.calls == 2)
        #expect(outages.last["a"]?.failedOver == ["b": 2])
    }

    @Test func `an outage counts the latest failures even if very many came before the ejection`() {
        var outages = ServerOutages()
        let starts = stride(from: 0.0, through: 6_000, by: 30)

        for start in starts { outages.add(call(start)) }
        outages.eject("a", HealthStatistics(), .score, at: 6_010)

        #expect(outages.last["a"]?.calls ?? 0 >= 100)
    }

    @Test func `the evidence of an outage counts the calls that failed over, were hedged, or failed`() {
        var outages = ServerOutages()
        var (hedged, failed, other) = (call(130), call(140), call(150))
        (hedged.attempts[0].error, hedged.attempts[0].isCut, hedged.attempts[1].kind) = (nil, true, .hedge)
        (failed.attempts[1].status, failed.attempts[1].error) = (nil, "connectionRefused")
        failed.outcome = InspectedCall.Outcome(error: "connectionRefused")
        // A hedge at `a` that is cancelled because `b`, the first server, responds.
        (other.attempts[0].error, other.attempts[0].isCut, other.attempts[0].kind) = (nil, true, .hedge)

        outages.eject("a", HealthStatistics(), .score, at: 100)
        for call in [call(100), call(120), hedged, failed, other] { outages.add(call) }

        let words = outages.last["a"]?.words()
        #expect(words == "failed; 4 calls were affected: 2 failed over to b, 1 hedged with b, 1 failed")
    }

    @Test func `a call that failed at two servers counts only for the first server`() {
        var outages = ServerOutages()
        var both = call(110)
        both.attempts.insert(both.attempts[0], at: 1)
        both.attempts[1].server = "c"

        for server in ["a", "c"] { outages.eject(server, HealthStatistics(), .score, at: 100) }
        outages.add(both)

        #expect(outages.last.mapValues(\.calls) == ["a": 1, "c": 0])
    }

    @Test func `the evidence of an outage stays after the recovery of the server`() {
        var outages = ServerOutages()
        outages.eject("a", HealthStatistics(lastFailure: .wire(.connectionRefused)), .score, at: 100)
        outages.add(call(100))
        #expect(outages.last["a"]?.pastWords == nil)

        outages.recover("a", after: 2_500)

        let past = "was out of service for 2.5 s: refused connections; 1 call was affected: 1 failed over to b"
        #expect(outages.last["a"]?.pastWords == past)
    }

    @Test func `the description of an outage calls a late server slow until a probe of the server fails`() {
        var outages = ServerOutages()
        outages.eject("a", HealthStatistics(lastFailure: .overtaken), .lateness, at: 100)
        let slow = outages.last["a"]?.what

        outages.probe("a", succeeded: false)

        #expect(slow == "was slower than the others")
        #expect(outages.last["a"]?.what == "did not respond in time")
    }
}
