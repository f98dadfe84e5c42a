import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension InspectedClient {
    /// Creates a description of the current state of a client.
    ///
    /// `outages` are the last outages, by server.
    init(
        _ client: NetworkClient,
        _ redaction: Redaction,
        outages: [String: ServerOutage],
        fault: String?,
        mayControl: Bool
    ) {
        let (list, environment) = (client.service.servers, client.environment)
        service = client.service.name
        self.environment = environment.rawValue
        environments = client.service.environments.map(\.rawValue)
        current = client.currentServer
        self.mayControl = mayControl
        self.fault = fault
        servers = client.servers.map { snapshot in
            let url = list.first { $0.name == snapshot.id }?.baseURLs[environment]?.text ?? ""
            return Server(snapshot, outages[snapshot.id], url: redaction.url(url))
        }
    }
}

extension InspectedClient.Server {
    fileprivate init(_ snapshot: ServerSnapshot, _ outage: ServerOutage?, url: String) {
        name = snapshot.id
        self.url = url
        // The client resets its own statistics when it ejects the server (takes it out of use for a time).
        let open = snapshot.state == .healthy ? nil : outage
        words = open?.words(nextProbe: snapshot.nextProbe) ?? Self.words(of: snapshot, outage)
        since = open?.since
        state =
            switch snapshot.state {
            case .ejected: .ejected
            case .trial: .probing
            case .healthy: snapshot.isCurrent ? .inUse : .standby
            }
    }

    /// Returns the known numbers that explain a server's state, and its last outage, as text.
    private static func words(of snapshot: ServerSnapshot, _ outage: ServerOutage?) -> String {
        let figures = snapshot.statistics
        let latency = zip(snapshot.p50, snapshot.p99).map { half, most in
            "half of the responses arrived within \(milliseconds(half)), 99 % within \(milliseconds(most))"
        }
        let parts = [
            figures.requests > 0 ? figures.failureWords : nil,
            figures.share < 1 ? "receives \(Int((figures.share * 100).rounded())) % of its usual traffic" : nil,
            snapshot.hasPercentiles ? latency : nil,
            snapshot.nextProbe.map { "next probe in \(Int($0.inSeconds.rounded(.up))) s" },
            outage?.pastWords,
        ]
        let words = parts.compactMap(\.self)
        return words.isEmpty ? "no data yet" : words.joined(separator: "; ")
    }

    private static func zip(_ one: Duration?, _ other: Duration?) -> (Duration, Duration)? {
        one.flatMap { one in other.map { (one, $0) } }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let value = duration.inSeconds * 1_000
        return value < 10 ? "\((value * 100).rounded() / 100) ms" : "\(Int(value.rounded())) ms"
    }
}

extension HealthStatistics {
    /// The number of failed requests, including those that do not count against the server.
    private var allFailures: Int { failures + uncountedFailures }

    /// The number of failed requests in words.
    fileprivate var failureWords: String {
        guard requests > 1 else { return "the last request \(allFailures == 0 ? "succeeded" : "failed")" }
        return "\(allFailures) of the last \(requests) requests failed"
    }
}

extension ServerSnapshot {
    /// Whether there are enough successes for percentiles.
    fileprivate var hasPercentiles: Bool { latencyCount >= VerdictText.leastForPercentiles }
}
