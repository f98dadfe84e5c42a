import Foundation
import Testing

@testable import SwitchyardServices

/// Envoy's outlier detection: the ejection of hosts and their return.
///
/// A healthy host is added to each case, because the last healthy server is never ejected.
@Suite struct EnvoyCaseTests {
    @Test func `the switching core handles the outlier detection sequences of Envoy`() throws {
        try CaseFile("envoy_outlier_detection").run(reading: Self.keys) { item in
            if let reason = Self.notApplicable(item) { return .notApplicable(reason) }
            if item["expected_jitter_ms"].exists {
                return .differs(
                    "By default, waits vary by 30 % of the wait instead of by a fixed number of milliseconds."
                )
            }
            if let seconds = item["expected_max_ejection_seconds"].double { return try Self.longest(item, seconds) }
            var hosts = try Hosts(item)
            for (index, step) in item["steps"].array.enumerated() {
                guard case .failed(let text) = try hosts.perform(step) else { continue }
                // The second ejection is as long as in Envoy; from the third ejection on, the durations differ.
                return CaseOutcome.failed("step \(index + 1): \(text)").or(
                    "The time to the first probe doubles with each ejection instead of growing by the base.",
                    if: hosts.ejections > 1 && step["op"].string == "tick"
                ).or(
                    "All failing servers except the last one can be ejected because there is no maximum share.",
                    if: hosts.ejected.count > step["expect"]["ejected"].array.count
                        && (hosts.ejected.count > 1 || item["config"]["maxEjectionPercent"].int == 0)
                ).or(
                    "408, 421, 425 and 429 are failures because the server could not process the request.",
                    if: item["steps"].array.contains { [408, 421, 425, 429].contains($0["status"].int ?? 0) }
                )
            }
            return .passed
        }
    }

    private static let keys: CaseKeys = """
        config.intervalSeconds config.consecutive5xx config.consecutiveGatewayFailure config.baseEjectionSeconds
        config.maxEjectionPercent config.maxEjectionSeconds config.maxEjectionJitterMs
        config.successRateMinimumHosts config.successRateRequestVolume config.successRateStdevFactor
        config.failurePercentageThreshold config.failurePercentageMinimumHosts
        config.failurePercentageRequestVolume config.consecutiveLocalOriginFailure
        config.splitExternalLocalOriginErrors config.splitExternalAndLocalOriginErrors
        config.enforceGatewayFailure config.enforceConsecutive5xx config.enforceSuccessRate
        config.enforceFailurePercentage config.enforceLocalOriginFailure
        hosts expected rates stdevFactor random expected_jitter_ms expected_max_ejection_seconds
        steps.op steps.host steps.count steps.status steps.result steps.at_seconds steps.ejection_numbers
        steps.expect.ejected steps.expect.reason steps.expect.totalEjections steps.expect.activeEjections
        steps.expect.hostSuccessRate steps.expect.average steps.expect.threshold steps.expect.ejectionSeconds
        """

    /// The reason why a case does not apply; `nil` if it applies.
    private static func notApplicable(_ item: CaseValue) -> String? {
        let config = item["config"]
        let steps = item["steps"].array
        if let row = config["consecutive5xx"].int, row < 1 {
            return "The number of consecutive failures is at least one."
        }
        if config["enforceGatewayFailure"].bool == true,
            config["consecutiveGatewayFailure"].int != config["consecutive5xx"].int
        {
            return "All failures count as consecutive failures because gateway failures have no separate count."
        }
        if steps.contains(where: { $0["result"].exists && Hosts.outcome(of: $0["result"].string ?? "") == nil }) {
            return "The result has no equivalent."
        }
        if item["rates"].exists || steps.contains(where: comparesHosts) {
            return "Servers are not compared because a service has few servers, and Envoy requires at least five."
        }
        if steps.contains(where: { $0["op"].string == "formula" }) {
            return "The time to the first probe doubles with each ejection, and there is no other formula."
        }
        let switches = config.keys.filter { $0.hasPrefix("enforce") && !$0.hasPrefix("enforceGateway") }
        if switches.contains(where: { config[$0].bool == false }) {
            return "Every configured rule is enforced because there is no mode that only counts."
        }
        if config.keys.contains(where: { $0.lowercased().contains("split") }) {
            return "Evidence distinguishes failures of the network and of the server, not separate counts."
        }
        if config["maxEjectionSeconds"].double ?? .infinity < config["baseEjectionSeconds"].double ?? 0 {
            return "The maximum wait also limits the first wait."
        }
        let known: Set = ["requests", "results", "tick", "remove_host"]
        if steps.contains(where: { !known.contains($0["op"].string ?? "") }) {
            return "The only active health checks are the probes of an ejected server."
        }
        return nil
    }

    /// Whether a step compares the hosts of a cluster.
    private static func comparesHosts(_ step: CaseValue) -> Bool {
        let statistics: Set = ["hostSuccessRate", "average", "threshold"]
        return step["op"].string == "requests_all" || !step["expect"].keys.isDisjoint(with: statistics)
            || step["expect"]["reason"].string?.contains("percentage") == true
    }

    private static func longest(_ item: CaseValue, _ seconds: Double) throws -> CaseOutcome {
        let base = try #require(item["config"]["baseEjectionSeconds"].double)
        let json = """
            {"service": "s", "defaultEnvironment": "test", "switching": {"firstProbe": \(base)},
             "servers": [{"name": "a", "baseURLs": {"test": "http://a"}}]}
            """
        let service = try ServiceCatalog.service(from: Data(json.utf8), named: "s")
        return CaseOutcome.compare(service.switching.recovery.longestProbe, .seconds(seconds))
            .or("The default of the maximum wait is 60 s.", if: base < 60)
    }
}

private struct Hosts {
    var core: SwitchingCore
    var now = MonotonicTime.zero
    var ejections = 0
    /// The cause of the last ejection.
    var cause: SwitchCause?

    init(_ item: CaseValue) throws {
        let config = item["config"]
        var policy = SwitchPolicy.consecutiveFailures(config["consecutive5xx"].int ?? 5)
        policy.detection.countsUnproven = true
        // Envoy's hosts are equal. With an order of preference, only servers before the current one would be probed.
        policy.selection = .roundRobin
        policy.recovery.firstProbe = .seconds(config["baseEjectionSeconds"].double ?? 30)
        policy.recovery.jitter = 0
        policy.recovery.seriesGap = .zero
        policy.recovery.spreadShare = 0
        let members = (0...(item["hosts"].int ?? 1)).map { SwitchingCore.Member(id: "\($0)") }
        core = try SwitchingCore(members: members, policy: policy, at: now, seed: 1)
    }

    mutating func perform(_ step: CaseValue) throws -> CaseOutcome {
        switch step["op"].string {
        case "requests":
            let outcome = AttemptOutcome(status: step["status"].int ?? 200, latency: .milliseconds(1))
            try send(outcome, to: step["host"].int ?? 0, count: step["count"].int ?? 1)
        case "results":
            guard let known = Self.outcome(of: step["result"].string ?? ""), let outcome = known else { break }
            try send(outcome, to: step["host"].int ?? 0, count: step["count"].int ?? 1)
        case "tick":
            now = MonotonicTime(seconds: step["at_seconds"].double ?? 0)
            while let probe = core.takeProbe(at: now) { _ = core.settleProbe(probe, .ok, at: now) }
        default:
            _ = try core.replace(core.steering.members.filter { $0.id != "\(step["host"].int ?? 0)" }, at: now)
        }
        return check(step["expect"])
    }

    /// Converts a result in Envoy's words, of a server or of the connection to it.
    ///
    /// The outer `nil` is an unknown result; the inner `nil` is an open connection without a response.
    static func outcome(of result: String) -> AttemptOutcome?? {
        let words = result.lowercased()
        let status = words.split(separator: " ").last.flatMap { Int($0) }
        if words.contains("timeout") {
            return status.map { AttemptOutcome(status: $0, latency: .milliseconds(1)) } ?? .failure(.timeout)
        }
        let isConnection = words.contains("connect")
        if words.contains("success") { return .some(isConnection && status == nil ? nil : .ok) }
        guard words.contains("fail") || words.contains("error") else { return nil }
        return .failure(isConnection ? .refused : .http(500))
    }

    private mutating func send(_ outcome: AttemptOutcome, to host: Int, count: Int) throws {
        var others = ServerSet()
        for other in core.steering.members.indices where other != host { others.insert(other) }
        for _ in 0..<count {
            let chosen = core.choose(excluding: others, at: now)
            for event in core.settle(try #require(chosen), outcome, at: now) {
                guard case .ejected(_, _, let cause) = event.kind else { continue }
                ejections += 1
                self.cause = cause
            }
        }
    }

    var ejected: [String] { core.snapshot(at: now).filter { $0.state == .ejected }.map(\.id) }

    private func check(_ expected: CaseValue) -> CaseOutcome {
        let wanted = expected["ejected"].exists ? expected["ejected"].array.map { "\($0.int ?? -1)" } : nil
        let reason = expected["reason"].string
        let rows = ["5xx", "gateway_failure", "local_origin_failure"].map { "consecutive_\($0)" }
        let isRow = cause == .consecutiveFailures && reason.map(rows.contains) == true
        return .all([
            .compare(ejected, wanted),
            .compare(isRow ? reason : cause?.rawValue, reason),
            .compare(ejections, expected["totalEjections"].int),
            .compare(ejected.count, expected["activeEjections"].int),
        ])
    }
}
