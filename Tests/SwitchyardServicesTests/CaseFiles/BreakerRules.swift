@testable import SwitchyardServices

/// The differences between a server of a service and a circuit breaker.
enum BreakerRules {
    private static let states: Set = ["closed", "open", "half_open"]
    private static let steps: Set = [
        "success", "failure", "excluded", "complete", "finish", "release", "advance", "acquire", "start", "reset",
        "observe", "force",
    ]
    private static let settings: Set = ["maxRequestsHalfOpen", "intervalSeconds", "timeoutSeconds", "breakSeconds"]

    /// The reason why a case does not apply; `nil` if it applies.
    static func notApplicable(_ item: CaseValue) -> String? {
        let config = item["config"]
        let all = item["steps"].array
        let named = all.flatMap { [$0["to"].string, $0["expect"]["state"].string] } + [config["initialState"].string]
        if named.compactMap(\.self).contains(where: { !states.contains($0) }) {
            return
                "Operators cannot set states, but a pushed avoid command or the policy off has the same effect."
        }
        if all.contains(where: { $0["untilSecondsFromNow"].exists || $0["forSeconds"].exists }) {
            return "The length of an ejection cannot be set, but a pushed avoid command has a time to live."
        }
        if all.contains(where: { isSlow($0, config) }) {
            return "A call is slow if its hedge overtakes it, not if it exceeds a fixed duration."
        }
        if all.contains(where: { $0["expect"]["error"].string?.contains("illegal transition") == true }) {
            return "Callers cannot set states."
        }
        if all.contains(where: { !steps.contains($0["op"].string ?? "") }) || config["breakDuration"].string != nil {
            return "The recovery rules determine the length of an ejection, and a panic is not an outcome."
        }
        if config["everythingIsSuccess"].bool == true { return "A separate rule defines failures." }
        if all.contains(where: { !$0["expect"].keys.isDisjoint(with: settings) }) {
            return "The case tests settings and defaults of another library."
        }
        if endsTrialByTime(item) {
            return "A trial has no time limit because it cannot be decided without traffic."
        }
        return nil
    }

    private static func isSlow(_ step: CaseValue, _ config: CaseValue) -> Bool {
        let limit = config["slowCallDurationThresholdSeconds"].double ?? .infinity
        return step["durationSeconds"].double ?? 0 >= limit
            || !step["expect"].keys.isDisjoint(with: ["slowCalls", "slowCallRate"])
    }

    /// Whether a case expects a trial to end without requests.
    private static func endsTrialByTime(_ item: CaseValue) -> Bool {
        let all = item["steps"].array
        return zip(all, all.dropFirst()).contains { first, second in
            first["to"].string == "half_open" && second["op"].string == "advance"
                && ["open", "closed"].contains(second["expect"]["state"].string)
        }
    }

    /// The reason for a deliberate difference of the core; `nil` if there should be no difference.
    static func difference(_ item: CaseValue, _ mismatch: BreakerCase.Mismatch) -> String? {
        let config = item["config"]
        let permitted = config["permittedCallsInHalfOpen"].int ?? config["maxRequestsHalfOpen"].int ?? 1
        let expected = mismatch.step["expect"]
        if mismatch.step["op"].string == "success", mismatch.before == "closed", expected["state"].string == "open" {
            return "Only a failure ejects a server, not a success that reaches the minimum (TAF-S2)."
        }
        if mismatch.isFigure {
            if let reason = figures(mismatch) { return reason }
        }
        if mismatch.ejections > 1, isLater(mismatch) {
            return "Each ejection lasts twice as long as the previous ejection."
        }
        if mismatch.sawTrial, permitted > 1 {
            return "A trial allows as many concurrent requests as have succeeded, and one failure ends the trial."
        }
        let interval = config["intervalSeconds"].double ?? 0
        if interval > 0, !config["bucketSeconds"].exists, mismatch.seconds >= interval {
            return "A window slides continuously instead of being emptied after each interval."
        }
        return nil
    }

    /// Whether the server is still ejected when the case expects it to be back.
    private static func isLater(_ mismatch: BreakerCase.Mismatch) -> Bool {
        let expected = mismatch.step["expect"]
        guard mismatch.after == "open" else { return false }
        return expected["error"]["retryAfterSeconds"].exists || expected["permitted"].bool == true
            || ["half_open", "closed"].contains(expected["state"].string)
    }

    /// Returns the reason for different numbers in the same state.
    private static func figures(_ mismatch: BreakerCase.Mismatch) -> String? {
        let expected = mismatch.step["expect"]
        if mismatch.step["op"].string == "start" {
            return "An outcome is counted at the end of a request, not at its start."
        }
        let counted = [expected["counts"]["requests"], expected["metrics"]["buffered"], expected["throughput"]]
        if counted.contains(where: { $0.int ?? 0 > SwitchPolicy.Window.maximumCount }) {
            return "A window holds at most \(SwitchPolicy.Window.maximumCount) outcomes."
        }
        switch expected["state"].string {
        case "open" where mismatch.before == "closed": return "An ejection starts a new window."
        case "half_open" where expected["error"].exists:
            return "The next success of a trial allows more requests, so there is no wait time."
        default: return nil
        }
    }
}
