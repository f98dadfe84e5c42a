import Testing

@testable import SwitchyardServices

/// The choice within the latency window, and the mean latency, by the figures of MongoDB's specification of server
/// selection.
///
/// The specification measures the round-trip time with requests of its own, the core the latency of the app's requests.
/// The specification keeps servers without a measurement out of the selection, the core has them in the window. The
/// cases contain neither.
@Suite struct LatencyWindowCaseTests {
    @Test func `the core chooses within the latency window as MongoDB's drivers do`() throws {
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
            for _ in 0..<(server["inFlight"].int ?? 0) { core.inFlight.begin(position) }
        }
        let iterations = try #require(item["iterations"].int)
        var counts = servers.map { _ in 0.0 }
        for _ in 0..<iterations {
            guard let attempt = core.choose(at: .zero) else { return .failed("no server") }
            counts[attempt.server] += 1
            // The numbers of requests in flight do not change in a case.
            core.inFlight.end(attempt.server)
        }
        let shares = counts.map { $0 / Double(iterations) }
        let isClose = zip(servers, shares).allSatisfy { server, share in
            abs(share - (server["expected"].double ?? 0)) <= item["tolerance"].double ?? 0
        }
        return isClose ? .passed : .failed("got the shares \(shares)")
    }

    private static func mean(_ item: CaseValue) -> CaseOutcome {
        var digest = LatencyDigest()
        if let before = item["before"].double { digest.record(before) }
        digest.record(item["sample"].double ?? 0)
        let after = item["after"].double ?? 0
        return abs(Double(digest.mean) - after) < 0.001 ? .passed : .failed("got \(digest.mean), expected \(after)")
    }
}
