import Switchyard

extension ReportPhase {
    /// Returns the statistics before, during and after the faults, and of all calls.
    ///
    /// Without faults, returns only the statistics of all calls.
    ///
    /// A call belongs to the phase in which it was due. A call between two faults belongs to the phase after the first
    /// fault.
    static func all(of calls: ReportCalls, _ faults: [ReportFault]) -> [ReportPhase] {
        guard let first = faults.map(\.from).min() else { return [ReportPhase(.all, calls, calls.start.indices)] }
        var groups: [Name: [Int]] = [:]
        for (call, start) in calls.start.enumerated() {
            let isDuring = faults.contains { $0.from <= start && start < $0.until ?? .infinity }
            groups[start < first ? .before : isDuring ? .during : .after, default: []].append(call)
        }
        return [Name.before, .during, .after].map { ReportPhase($0, calls, groups[$0] ?? []) }
            + [ReportPhase(.all, calls, calls.start.indices)]
    }

    private init(_ name: Name, _ calls: ReportCalls, _ members: some Collection<Int>) {
        let waits = members.map { calls.wait[$0] }.sorted()
        let errors = members.count { calls.kind(of: $0)?.blamesServer == false }
        self.init(
            name: name,
            calls: members.count,
            failures: members.count { calls.failure[$0] > 0 },
            requestErrors: errors > 0 ? errors : nil,
            hedged: members.count { calls.succeeded($0, .hedged) },
            failedOver: members.count { calls.succeeded($0, .failedOver) },
            p50: waits.quantile(0.5),
            p90: waits.quantile(0.9),
            p99: waits.quantile(0.99),
            max: waits.last
        )
    }
}

extension ReportTotal {
    /// Returns the totals of each server.
    static func all(of calls: ReportCalls, servers: Int) -> [ReportTotal] {
        let answered = calls.start.indices.filter { calls.failure[$0] == 0 && calls.server[$0] >= 0 }
        let groups = Dictionary(grouping: answered) { calls.server[$0] }
        return (0..<servers).map { server in
            let own = groups[server] ?? []
            let waits = own.map { calls.wait[$0] }.sorted()
            return ReportTotal(
                server: server,
                answered: own.count,
                share: (Double(own.count) / Double(Swift.max(1, answered.count))).rounded(places: 4),
                hedged: own.count { calls.succeeded($0, .hedged) },
                failedOver: own.count { calls.succeeded($0, .failedOver) },
                p50: waits.quantile(0.5),
                p99: waits.quantile(0.99)
            )
        }
    }
}

extension ReportRates {
    /// The maximum number of time steps in a report.
    private static let mostSteps = 80.0
    /// The possible lengths of a time step in seconds.
    private static let steps = [0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 600, 1_800]

    /// Counts the calls in each time step.
    init(of calls: ReportCalls, servers: Int, until end: Double) {
        step = Self.steps.first { end / $0 <= Self.mostSteps } ?? 3_600
        let count = Int(end / step) + 1
        failed = Array(repeating: 0, count: count)
        answered = Array(repeating: failed, count: servers)
        for call in calls.start.indices {
            let place = place(calls.start[call])
            if calls.failure[call] > 0 {
                failed[place] += 1
            } else if calls.server[call] >= 0 {
                answered[calls.server[call]][place] += 1
            }
        }
    }

    /// Counts the attempts that were sent to each server, if they are known.
    mutating func count(_ story: TrafficStory) {
        guard story.notes.calls.contains(where: { !$0.sent.isEmpty }) else { return }
        var counts = answered.map { $0.map { _ in 0 } }
        for call in story.notes.calls {
            for attempt in call.sent {
                guard let server = story.place(attempt.server) else { continue }
                counts[server][place(story.second(call.start.advanced(by: attempt.after)))] += 1
            }
        }
        sent = counts
    }

    /// Returns the index of the time step that contains a time.
    private func place(_ time: Double) -> Int { min(failed.count - 1, max(0, Int(time / step))) }
}

extension [Double] {
    /// Returns the quantile of sorted numbers by the nearest rank: the smallest number that at least this share of the
    /// numbers does not exceed.
    ///
    /// The result is `nil` for an empty array.
    func quantile(_ share: Double) -> Double? {
        isEmpty ? nil : self[Swift.max(1, Int((share * Double(count)).rounded(.up))) - 1]
    }
}
