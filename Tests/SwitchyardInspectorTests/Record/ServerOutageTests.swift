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
        outages.eject("a", HealthStatistics(), at: 125)
        for call in calls.dropFirst(reported) { outages.add(call) }

        #expect(outages.open["a"]?.since == 100)
        #expect(outages.open["a"]?.calls == 2)
        #expect(outages.open["a"]?.failedOver == ["b": 2])
    }

    @Test func `the evidence counts calls that failed over, were hedged, or failed`() {
        var outages = ServerOutages()
        var (hedged, failed, other) = (call(130), call(140), call(150))
        (hedged.attempts[0].error, hedged.attempts[0].isCut, hedged.attempts[1].kind) = (nil, true, .hedge)
        (failed.attempts[1].status, failed.attempts[1].error) = (nil, "connectionRefused")
        failed.outcome = InspectedCall.Outcome(error: "connectionRefused")
        // A hedge at `a` that is cancelled because `b`, the first server, responds.
        (other.attempts[0].error, other.attempts[0].isCut, other.attempts[0].kind) = (nil, true, .hedge)

        outages.eject("a", HealthStatistics(), at: 100)
        for call in [call(100), call(120), hedged, failed, other] { outages.add(call) }

        let words = outages.open["a"]?.words(nextProbe: nil)
        #expect(words == "failed; 4 calls met the failure: 2 failed over to b, 1 hedged with b, 1 failed")
    }
}
