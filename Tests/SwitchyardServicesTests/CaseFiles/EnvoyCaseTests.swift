import Foundation
import Testing

@testable import SwitchyardServices

/// Envoy's outlier detection: which of several hosts is ejected, and when it is back.
///
/// A healthy host is added to each case, because the last healthy server is never ejected.
@Suite struct EnvoyCaseTests {
    @Test func `Envoy's sequences`() throws {
        try CaseFile.run("envoy_outlier_detection", except: CaseNotes.envoy) { value in
            if let seconds = value["expected_max_ejection_seconds"].double {
                return try EnvoyCaseTests.checkLongest(value, seconds)
            }
            var hosts = try Hosts(value)
            for step in value["steps"].array { try hosts.perform(step) }
        }
    }

    private static func checkLongest(_ value: CaseValue, _ seconds: Double) throws {
        let base = try #require(value["config"]["baseEjectionSeconds"].double)
        let json = """
            {"service": "s", "defaultEnvironment": "test", "switching": {"firstProbe": \(base)},
             "servers": [{"name": "a", "baseURLs": {"test": "http://a"}}]}
            """
        let service = try ServiceCatalog.service(from: Data(json.utf8), named: "s")
        #expect(service.switching.recovery.longestProbe == .seconds(seconds))
    }
}

private struct Hosts {
    var core: SwitchingCore
    var now = MonotonicTime.zero
    var ejections = 0
    let id: Comment

    init(_ value: CaseValue) throws {
        id = Comment(rawValue: value["id"].string ?? "")
        let config = value["config"]
        var policy = SwitchPolicy.consecutiveFailures(config["consecutive5xx"].int ?? 5)
        policy.detection.countsUnproven = true
        policy.recovery.firstProbe = .seconds(config["baseEjectionSeconds"].double ?? 30)
        policy.recovery.jitter = 0
        policy.recovery.seriesGap = .zero
        policy.recovery.spreadShare = 0
        let members = (0...(value["hosts"].int ?? 1)).map { SwitchingCore.Member(id: "\($0)") }
        core = try SwitchingCore(members: members, policy: policy, at: now, seed: 1)
    }

    mutating func perform(_ step: CaseValue) throws {
        switch step["op"].string {
        case "requests":
            let outcome = AttemptOutcome(status: step["status"].int ?? 200, latency: .milliseconds(1))
            try send(outcome, to: step["host"].int ?? 0, count: step["count"].int ?? 1)
        case "results":
            let outcomes = [
                "timeout": AttemptOutcome.failure(.timeout), "timeout mapped to 500": .failure(.http(500)),
                "timeout mapped to 200": .ok,
            ]
            let outcome = try #require(outcomes[step["result"].string ?? ""])
            try send(outcome, to: step["host"].int ?? 0, count: step["count"].int ?? 1)
        case "tick":
            now = MonotonicTime(seconds: step["at_seconds"].double ?? 0)
            while let probe = core.takeProbe(at: now) { _ = core.settleProbe(probe, .ok, at: now) }
        case "remove_host":
            _ = try core.replace(core.members.filter { $0.id != "\(step["host"].int ?? 0)" }, at: now)
        default: Issue.record("unknown step \(step["op"].string ?? "")")
        }
        check(step["expect"])
    }

    private mutating func send(_ outcome: AttemptOutcome, to host: Int, count: Int) throws {
        var others = ServerSet()
        for other in core.members.indices where other != host { others.insert(other) }
        for _ in 0..<count {
            let chosen = core.choose(excluding: others, at: now)
            for event in core.settle(try #require(chosen), outcome, at: now) {
                if case .ejected = event.kind { ejections += 1 }
            }
        }
    }

    private func check(_ expected: CaseValue) {
        let ejected = core.snapshot(at: now).filter { $0.state == .ejected }.map(\.id)
        if expected["ejected"].exists { #expect(ejected == expected["ejected"].array.map { "\($0.int ?? -1)" }, id) }
        if let total = expected["totalEjections"].int { #expect(ejections == total, id) }
        if let active = expected["activeEjections"].int { #expect(ejected.count == active, id) }
    }
}
