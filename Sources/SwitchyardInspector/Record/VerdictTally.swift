import SwitchyardClient

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

    /// The time in milliseconds before an ejection of a server.
    ///
    /// Calls that were hedged (sent to a second server because the first was slow) in this time count as affected by
    /// the server's failure.
    private static let hedgeTime = 2_000.0
    /// The maximum number of hedged calls that are kept.
    private static let mostHedges = 1_000

    private var facts = VerdictFacts()
    private var ejected: Set<String> = []
    /// The ejected servers that only were slow so far, with the times of their ejections.
    private var slow: [String: Double] = [:]
    /// The slow servers of recent calls that another server completed, with the times of the responses.
    private var hedges: [(server: String, time: Double)] = []
    private var run: Run?
    /// The failures in the current environment.
    private var failures = Failures()
    /// The failures in the environments that the client has left, in the order in which it left them.
    private var earlier: [(environment: String, failures: Failures)] = []

    /// Counts a call that has ended.
    ///
    /// A call that the app cancelled is not counted.
    mutating func add(_ call: InspectedCall) {
        guard let outcome = call.outcome, outcome.error != "cancelled" else { return }
        facts.calls += 1
        guard let kind = outcome.kind else { return succeeded(call) }
        facts.failed += 1
        facts.failures[kind, default: 0] += 1
        if VerdictText.blamesServer(kind) { failed(call) }
    }

    /// Records that the client has ejected a server (taken it out of use for a time) because of its failures.
    ///
    /// If the server was only slow (`isSlow`), it counts as failed only after ``failProbe(_:)``.
    mutating func eject(_ server: String, isSlow: Bool = false, at time: Double) {
        let list = isSlow ? \Failures.slow : \Failures.servers
        if !failures[keyPath: list].contains(server) { failures[keyPath: list].append(server) }
        failures.recovered.remove(server)
        ejected.insert(server)
        if isSlow { slow[server] = time } else { countHedges(of: server, ejectedAt: time) }
    }

    /// Counts the calls that were hedged because of the failure of a server as saved.
    private mutating func countHedges(of server: String, ejectedAt time: Double) {
        facts.saved += hedges.count { $0.server == server && time - $0.time <= Self.hedgeTime }
        hedges.removeAll { $0.server == server }
    }

    /// Records that an ejected server has not responded to a probe, so that it has failed and was not only slow.
    mutating func failProbe(_ server: String) {
        guard let time = slow.removeValue(forKey: server) else { return }
        if !failures.servers.contains(server) { failures.servers.append(server) }
        countHedges(of: server, ejectedAt: time)
    }

    /// Records that a server is in service again.
    mutating func recover(_ server: String) {
        ejected.remove(server)
        slow[server] = nil
        failures.recovered.insert(server)
    }

    /// Records that the client has changed its environment, so that no server is ejected.
    mutating func changeEnvironment(from old: String, to new: String) {
        closeRun(at: run?.end ?? 0)
        (ejected, slow) = ([], [:])
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
        facts.serverCount = servers
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
        guard let last = call.attempts.last(where: { $0.status != nil && $0.isCut != true }) else { return }
        closeRun(at: call.start)
        switch last.kind {
        case .failover: facts.saved += 1
        case .retry: if call.attempts.first?.server != last.server { facts.saved += 1 }
        case .hedge: hedged(call, last)
        case .first, .refresh: break
        }
    }

    /// Counts a hedged call (one that was sent to a second server because the first was slow) that the second server
    /// has completed.
    ///
    /// If the slow server is already ejected, the call is counted now; otherwise it is counted when the slow server is
    /// ejected. It is not counted if the server only was slow.
    private mutating func hedged(_ call: InspectedCall, _ winner: InspectedAttempt) {
        let slow = call.attempts.last { $0.server != winner.server }?.server
        guard let slow, let end = call.end else { return }
        guard !ejected.contains(slow) || self.slow[slow] != nil else {
            facts.saved += 1
            return
        }
        hedges.append((slow, end))
        if hedges.count > Self.mostHedges { hedges.removeFirst(Self.mostHedges / 2) }
    }

    private mutating func failed(_ call: InspectedCall) {
        let end = call.end ?? call.start
        var run = run ?? Run(start: call.start, end: end)
        run.calls += 1
        run.end = max(run.end, end)
        run.servers.formUnion(call.attempts.compactMap(\.server))
        self.run = run
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

extension InspectedCall.Outcome {
    /// The kind of failure, such as `connectionRefused` or `http503`, or `nil` if the call succeeded.
    var kind: String? {
        if let error { return error }
        return status.flatMap { $0 >= 400 ? "http\($0)" : nil }
    }
}
