import SwitchyardClient
import SwitchyardServices

/// The totals of the calls and events that an inspector has seen: the facts for its ``Verdict``.
struct VerdictTally: Sendable {
    /// Consecutive calls that failed because of servers.
    private struct Run: Sendable {
        var calls = 0
        var start: Double
        var end: Double
        var servers: Set<String> = []

        /// Whether the calls count as an outage if no call succeeds until `time`.
        ///
        /// Fewer than three calls or less than half a second do not count as an outage.
        func isOutage(until time: Double) -> Bool { calls >= 3 && max(time, end) - start >= 500 }
    }

    /// The failures of servers in one environment.
    private struct Failures: Sendable {
        /// The servers that failed, in the order of their first failures.
        var servers: [String] = []
        /// The servers that were ejected only because they were slow, in the order of their first ejections.
        var slow: [String] = []
        /// The servers that have recovered since their last ejection.
        var recovered: Set<String> = []
        /// The longest time in milliseconds without a successful call, by the number of servers that failed in this
        /// time.
        var silences: [Int: Double] = [:]

        /// Returns the longest time in seconds in which each of `count` servers failed and no call succeeded.
        func secondsWithoutServer(of count: Int) -> Double? {
            silences.filter { $0.key >= max(1, count) }.values.max().map { $0 / 1_000 }
        }
    }

    private var facts = VerdictFacts()
    /// The last outage of each server, and the calls that were saved.
    private(set) var outages = ServerOutages()
    private var run: Run?
    /// The failures in the current environment.
    private var failures = Failures()
    /// The failures in the environments that the client has left, in the order in which it left them.
    private var earlier: [(environment: String, failures: Failures)] = []

    /// Counts a call that has ended.
    ///
    /// A call that the app cancelled is not counted.
    mutating func add(_ call: InspectedCall) {
        guard let outcome = call.outcome, !outcome.isCancelled else { return }
        facts.calls += 1
        outages.add(call)
        guard let kind = outcome.kind else { return succeeded(call) }
        facts.failed += 1
        facts.failures[kind, default: 0] += 1
        if VerdictText.blamesServer(kind) { failed(call) }
    }

    /// Records that the client has ejected a server (taken it out of use for a time) because of its failures, with the
    /// statistics that led to the ejection.
    ///
    /// If the server was only slow, it counts as failed only after a failed probe.
    mutating func eject(_ server: String, _ statistics: HealthStatistics, _ cause: SwitchCause, at time: Double) {
        let list = statistics.showsOnlySlowness(cause) ? \Failures.slow : \Failures.servers
        if !failures[keyPath: list].contains(server) { failures[keyPath: list].append(server) }
        failures.recovered.remove(server)
        outages.eject(server, statistics, cause, at: time)
    }

    /// Records whether an ejected server has responded to a probe.
    ///
    /// If it has not, it has failed and was not only slow.
    mutating func probe(_ server: String, succeeded: Bool) {
        if !succeeded, outages.isOnlySlow(server), !failures.servers.contains(server) {
            failures.servers.append(server)
        }
        outages.probe(server, succeeded: succeeded)
    }

    /// Records that a server is in service again, after this time in milliseconds.
    mutating func recover(_ server: String, after length: Double) {
        failures.recovered.insert(server)
        outages.recover(server, after: length)
    }

    /// Records that the client has changed its environment, so that no server is ejected.
    mutating func changeEnvironment(from old: String, to new: String) {
        closeRun(at: run?.end ?? 0)
        outages.reset()
        earlier.append((old, failures))
        failures = earlier.first { $0.environment == new }?.failures ?? Failures()
        earlier.removeAll { $0.environment == new }
    }

    /// Returns the verdict for a client with this number of servers.
    ///
    /// - Parameters:
    ///   - servers: The number of servers.
    ///   - outOfService: The names of the servers that are out of service now.
    ///   - current: The name of the preferred server, or `nil` if it is unknown.
    /// - Returns: The verdict.
    func verdict(servers: Int, outOfService: [String] = [], current: String? = nil) -> Verdict {
        let isDownNow = run.map { $0.isOutage(until: $0.end) && $0.servers.count >= max(1, servers) } ?? false
        var tally = self
        tally.closeRun(at: run?.end ?? 0)
        var facts = tally.facts
        (facts.serverCount, facts.saved) = (servers, outages.saved)
        facts.isStrict = false
        facts.failedServers = tally.failures.servers
        facts.areBack = tally.failures.recovered.isSuperset(of: tally.failures.servers)
        facts.slowServers = tally.failures.slow
        facts.secondsWithoutServer = tally.failures.secondsWithoutServer(of: servers)
        (facts.isDownNow, facts.outOfService) = (isDownNow, outOfService)
        facts.heir = current.flatMap { outOfService.contains($0) ? nil : $0 }
        facts.elsewhere = earlier.compactMap { environment, failures in
            let seconds = failures.secondsWithoutServer(of: servers)
            guard seconds != nil || !failures.servers.isEmpty else { return nil }
            return EnvironmentFailures(
                environment: environment,
                servers: failures.servers,
                secondsWithoutServer: seconds
            )
        }
        return Verdict(facts)
    }

    private mutating func succeeded(_ call: InspectedCall) {
        guard call.attempts.contains(where: { $0.status != nil && $0.isCut != true }) else { return }
        closeRun(at: call.start)
    }

    private mutating func failed(_ call: InspectedCall) {
        let end = call.end ?? call.start
        var run = run ?? Run(start: call.start, end: end)
        run.calls += 1
        run.end = max(run.end, end)
        run.servers.formUnion(call.attempts.compactMap(\.server))
        self.run = run
        if let reason = call.attempts.last?.obstacle { facts.stops[reason, default: 0] += 1 }
    }

    /// Ends a ``Run`` of failed calls.
    private mutating func closeRun(at time: Double) {
        guard let run else { return }
        self.run = nil
        guard run.isOutage(until: time) else { return }
        let longest = failures.silences[run.servers.count] ?? 0
        failures.silences[run.servers.count] = max(longest, max(time, run.end) - run.start)
    }
}

extension InspectedAttempt {
    /// The reason why a failed attempt was not followed by a failover, or `nil` if an attempt followed or nothing is
    /// known.
    fileprivate var obstacle: String? {
        next.flatMap { next in FailoverGuard.allCases.contains { "\($0)" == next } ? next : nil }
    }
}
