import Testing

@testable import SwitchyardServices

/// The choice within the latency window, and the mean latency, with the numbers of MongoDB's specification of server
/// selection.
///
/// The core differs from the specification in these points:
///
/// - The specification measures the round-trip time with requests of its own. The core measures the latency of the
///   app's requests, because it sends no requests only to measure. No case depends on this.
/// - The specification keeps a server without a measurement out of the selection until it is measured. The core has
///   such a server in the window, because it would never be measured otherwise. No case has such a server.
/// - One request in 32 goes to any server, also outside the window, because the latency of a server that gets no
///   requests would stay unknown. In the specification, this server gets no request.
@Suite struct LatencyWindowCaseTests {
    @Test func `the switching core chooses servers within the latency window as MongoDB's drivers do`() throws {
        let keys: CaseKeys = """
            servers.name servers.latencyMS servers.inFlight servers.expected iterations tolerance before sample after
            """
        try CaseFile("mongodb_latency_window").run(reading: keys) { item in
            item["servers"].exists ? try Self.choice(item) : Self.mean(item)
        }
    }

    private static func choice(_ item: CaseValue) throws -> CaseOutcome {
        let servers = item["servers"].array
        var policy = SwitchPolicy.recommended
        policy.selection = .lowestLatency
        let members = servers.compactMap(\.["name"].string).map { SwitchingCore.Member(id: $0) }
        var core = try SwitchingCore(members: members, policy: policy, at: .zero, seed: 7)
        for (position, server) in servers.enumerated() {
            let latency = (server["latencyMS"].double ?? 0) / 1000
            core.evidence.recordSuccess(position, of: nil, latency: latency, isInUse: true, at: 0)
            for _ in 0..<(server["inFlight"].int ?? 0) { core.inFlight?.begin(position) }
        }
        let iterations = try #require(item["iterations"].int)
        var counts = servers.map { _ in 0.0 }
        for _ in 0..<iterations {
            guard let attempt = core.choose(at: .zero) else { return .failed("no server") }
            counts[attempt.server] += 1
            // The numbers of requests in flight do not change in a case.
            core.inFlight?.end(attempt.server)
        }
        let shares = counts.map { $0 / Double(iterations) }
        let latencies = servers.compactMap(\.["latencyMS"].double)
        let limit = (latencies.min() ?? 0) + policy.latencyWindow / .milliseconds(1)
        let hasOutsider = latencies.contains { $0 > limit }
        let tolerance = (item["tolerance"].double ?? 0) + (hasOutsider ? explored : 0)
        let isClose = zip(servers, shares).allSatisfy { abs($1 - ($0["expected"].double ?? 0)) <= tolerance }
        guard isClose else { return .failed("got the shares \(shares)") }
        return hasOutsider ? .differs("one request in 32 goes to any server") : .passed
    }

    /// The maximum share of the requests that may go to any server.
    private static let explored = 1.5 / 32

    private static func mean(_ item: CaseValue) -> CaseOutcome {
        var digest = LatencyDigest()
        if let before = item["before"].double { digest.record(before) }
        digest.record(item["sample"].double ?? 0)
        let after = item["after"].double ?? 0
        return abs(Double(digest.mean) - after) < 0.001 ? .passed : .failed("got \(digest.mean), expected \(after)")
    }
}
