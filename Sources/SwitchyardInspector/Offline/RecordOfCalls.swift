import Foundation

extension InspectorRecord {
    /// The maximum number of calls in a record.
    ///
    /// If there are more, the newest calls are kept.
    package static let callLimit = 5_000

    /// Creates a record of calls.
    ///
    /// The servers are derived from the attempts of the calls.
    ///
    /// - Parameters:
    ///   - name: The name of the record.
    ///   - place: The names of the service and the environment.
    ///   - details: The calls, in order.
    ///   - events: The events of the servers, in order.
    package init(
        name: String,
        place: (service: String, environment: String),
        details: [CallDetail],
        events: [InspectorFeed.Event] = []
    ) {
        let kept = details.suffix(Self.callLimit)
        let servers = InspectedClient.Server.those(of: kept.map(\.call))
        let names = kept.flatMap(\.call.attempts).map(InspectedClient.Server.name)
        let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
        let client = InspectedClient(
            service: place.service,
            environment: place.environment,
            environments: [place.environment],
            current: servers.max { counts[$0.name, default: 0] < counts[$1.name, default: 0] }?.name ?? "",
            mayControl: false,
            servers: servers
        )
        let bodies = kept.flatMap { $0.attempts.flatMap { [$0.request.body, $0.response?.body] } }.compactMap(\.self)
        let feed = InspectorFeed(
            cursor: 1,
            forgotten: details.count - kept.count,
            verdict: Self.verdict(on: details.map(\.call)),
            limits: InspectorFeed.Limits(calls: kept.count, bodyBytes: bodies.map(\.keptBytes).max() ?? 0),
            client: client,
            calls: kept.map(\.call),
            events: events
        )
        let named = kept.map { ($0.call.id, $0) }
        self.init(name: name, feed: feed, details: Dictionary(named) { first, _ in first })
    }
}

extension InspectorRecord {
    /// Returns the verdict on recorded calls.
    ///
    /// The verdict names no server. A record does not state which servers were ejected (taken out of use for a time),
    /// and the servers in a record of another program may belong to several services.
    private static func verdict(on calls: [InspectedCall]) -> Verdict {
        var tally = VerdictTally()
        for call in calls.sorted(by: { ($0.end ?? $0.start) < ($1.end ?? $1.start) }) { tally.add(call) }
        return tally.verdict(servers: .max)
    }
}

extension CallDetail.Body {
    /// The number of body bytes that are kept.
    fileprivate var keptBytes: Int { text?.utf8.count ?? (base64?.utf8.count ?? 0) / 4 * 3 }
}

extension InspectedClient.Server {
    /// Returns the servers that the calls were sent to, with statistics computed from the attempts.
    fileprivate static func those(of calls: [InspectedCall]) -> [InspectedClient.Server] {
        var names: [String] = []
        var attempts: [String: [InspectedAttempt]] = [:]
        for attempt in calls.flatMap(\.attempts) {
            let name = name(attempt)
            if attempts[name] == nil { names.append(name) }
            attempts[name, default: []].append(attempt)
        }
        return names.map { InspectedClient.Server(name: $0, attempts[$0] ?? []) }
    }

    private init(name: String, _ attempts: [InspectedAttempt]) {
        self.name = name
        url = Self.origin(of: attempts.first?.url ?? "")
        state = .standby
        let failures = attempts.count { $0.error != nil || ($0.status ?? 0) >= 500 }
        let waits = attempts.compactMap { attempt in attempt.end.map { $0 - attempt.start } }.sorted()
        words = "\(VerdictText.count(failures)) of \(VerdictText.count(attempts.count)) requests failed"
        guard waits.count >= VerdictText.leastForPercentiles else { return }
        words += "; half of the responses arrived within \(VerdictText.milliseconds(waits[waits.count / 2]))"
    }

    /// Returns the name of the server of an attempt: its own name, or the scheme and the host of its URL.
    static func name(_ attempt: InspectedAttempt) -> String { attempt.server ?? origin(of: attempt.url) }

    /// Returns the scheme and the host of a URL.
    static func origin(of url: String) -> String {
        guard let scheme = url.range(of: "://") else { return "-" }
        return String(url[..<scheme.upperBound] + url[scheme.upperBound...].prefix { !"/?#".contains($0) })
    }
}
