import Foundation
import Switchyard
import SwitchyardInspector

extension ReportImpact {
    /// Returns the effects of outages on the calls of a run.
    static func all(of outages: [Outage], _ calls: ReportCalls) -> [ReportImpact] {
        outages.map { outage in
            let members = calls.start.indices.filter { outage.fault.covers(calls.start[$0]) }
            return ReportImpact(
                server: outage.server,
                what: outage.what,
                from: outage.from,
                length: outage.until.map { ($0 - outage.from).rounded(places: 4) },
                noticedAfter: outage.ejectedAt.map { max(0, $0 - outage.from).rounded(places: 4) },
                calls: members.count,
                failed: members.count { calls.kind(of: $0)?.blamesServer == true },
                saved: (calls.saved ?? []).count { outage == outages.cause(of: $0, calls) },
                slowest: members.map { calls.wait[$0] }.max(),
                heir: outage.move?.to,
                backAfter: outage.backAt.map { ($0 - outage.from).rounded(places: 4) },
                isUntried: outage.isUntried ? true : nil
            )
        }
    }
}

extension Report {
    /// The word `fault` or `faults`, depending on the number of faults of the run, for use in a sentence.
    ///
    /// Faults in the same period are one fault of several servers.
    var faultWord: String { Set(faults.map { [$0.from, $0.until] }).count > 1 ? "faults" : "fault" }

    /// Returns the number of calls in a phase, or 0 if there is no such phase.
    func calls(in name: ReportPhase.Name) -> Int { phases.first { $0.name == name }?.calls ?? 0 }

    /// Returns whether a fault of a server left no server to which its calls could go.
    ///
    /// A server that was taken out of service promptly had a successor, even if that server failed soon afterwards. In
    /// an outage of all servers, the last server is taken out of service only after another server has responded again.
    func leavesNoServer(_ impact: ReportImpact) -> Bool {
        let isPrompt = impact.noticedAfter.map { $0 <= [ReportFault].longestStart } ?? false
        return impact.failed > 0 && !isPrompt && faults.coverAll(servers.count, from: impact.from)
    }

    /// Returns the level of a fault, with the same meaning as the level of the verdict: whether too many of the calls
    /// failed, and whether the fault is over.
    func level(of impact: ReportImpact) -> Verdict.Level {
        if impact.failed > 0, verdict.level == .bad { return .bad }
        return impact.isOver ? .good : .ongoing
    }

    /// The effects of the faults, each with the names of its servers.
    ///
    /// A fault of several servers at the same time is listed once.
    var sharedImpacts: [(names: String, impact: ReportImpact)] {
        let groups = impacts.reduce(into: [[ReportImpact]]()) { groups, impact in
            if let last = groups.last?.last, last.isShared(with: impact) {
                groups[groups.count - 1].append(impact)
            } else {
                groups.append([impact])
            }
        }
        return groups.compactMap { group in group.first.map { (names(of: group.map(\.server)), $0) } }
    }

    /// Returns the names of servers as the subject of a sentence.
    func names(of places: [Int]) -> String {
        guard places.count > 1, places.count == servers.count else {
            return places.map { servers[$0] }.formatted(.list(type: .and).locale(Locale(identifier: "en_US")))
        }
        return "all servers"
    }
}

extension ReportImpact {
    /// Returns whether another effect differs only in its server.
    fileprivate func isShared(with other: ReportImpact) -> Bool {
        var same = other
        same.server = server
        return same == self && noticedAfter == nil
    }
}

extension [Outage] {
    /// Returns the outage because of which a call was sent to another server: the last outage that had begun when the
    /// call ended.
    fileprivate func cause(of call: Int, _ calls: ReportCalls) -> Outage? {
        let first = calls.firstServer(of: call)
        return last {
            $0.server != calls.server[call] && $0.fault.meets(calls, call) && first ?? $0.server == $0.server
        }
    }
}

extension ReportFault {
    /// Returns whether the fault was active at any moment between the start of a call and its end.
    fileprivate func meets(_ calls: ReportCalls, _ call: Int) -> Bool {
        from <= calls.start[call] + calls.wait[call] / 1_000 && calls.start[call] < until ?? .infinity
    }

    /// Returns whether the fault was active at this time.
    func covers(_ time: Double) -> Bool { from <= time && time < until ?? .infinity }
}

extension [ReportFault] {
    /// In an outage of all servers, the maximum time in seconds between the starts of the servers' faults.
    static let longestStart = 0.5

    /// Returns whether each of `count` servers was faulty at this time or soon afterwards.
    func coverAll(_ count: Int, from time: Double) -> Bool {
        let starts = [time] + map(\.from).filter { time < $0 && $0 <= time + Self.longestStart }
        return starts.contains { start in Set(filter { $0.covers(start) }.map(\.server)).count >= count }
    }

    /// Returns the end of a sentence about a server that failed at this time and was not taken out of service.
    func ending(ofServers count: Int, at time: Double) -> String {
        coverAll(count, from: time) ? ", and no server was left to switch to" : ", and stayed in service"
    }
}

extension ReportCalls {
    /// Finds the calls that succeeded although their first server had failed.
    ///
    /// A call is saved if its first server failed it. A call to which the first server might still have responded was
    /// hedged (sent to a second server because the first was slow), or its first server was taken out of service. Such
    /// a call is saved only if the first server was faulty, and not only slow, while the call waited. If the first
    /// server is unknown, it is enough that any server other than the responding server was faulty.
    mutating func findSaved(in story: TrafficStory, _ faults: [ReportFault]) {
        let recorded = story.notes.calls.sorted { $0.start < $1.start }
        let found = start.indices.filter { call in
            guard failure[call] == 0, way[call] != CallWay.direct.rawValue else { return false }
            let hasFailed = recorded[call].sent.first?.hasFailed ?? (way[call] == CallWay.failedOver.rawValue)
            return hasFailed || faults.contains { $0.isSlow != true && takesCall(call, $0) && $0.meets(self, call) }
        }
        saved = found.isEmpty ? nil : found
    }

    /// Returns whether this fault affects the first server of a call, so that another server responded to the call.
    private func takesCall(_ call: Int, _ fault: ReportFault) -> Bool {
        fault.server != server[call] && firstServer(of: call) ?? fault.server == fault.server
    }
}

extension Verdict {
    /// Creates the verdict of a run of real calls from its report, which contains the faults, states and calls.
    init(of report: Report, _ story: TrafficStory) {
        let calls = report.calls ?? ReportCalls()
        var facts = VerdictFacts()
        facts.takeFaults(of: report, FailingPeriod.withoutServer(in: story), until: story.end)
        facts.calls = calls.start.count
        for call in calls.start.indices {
            guard let kind = calls.kind(of: call) else { continue }
            facts.failed += 1
            facts.failures[kind, default: 0] += 1
        }
        for call in story.notes.calls where call.failure?.blamesServer == true {
            if let obstacle = call.obstacle { facts.stops[obstacle, default: 0] += 1 }
        }
        facts.saved = report.saved
        (facts.tolerance, facts.deadline) = (story.tolerance, story.deadline)
        self.init(facts)
        if let comparison = Self.comparison(report, calls) { details.append(comparison) }
    }

    /// Returns the number of calls that a client without switching would have sent to a faulty server, or `nil` if
    /// there are none or most of them failed with switching too.
    private static func comparison(_ report: Report, _ calls: ReportCalls) -> String? {
        let first = report.states.first { $0.from == 0 && ($0.state == .inUse || $0.state == .failing) }?.server ?? 0
        let faults = report.faults.filter { $0.server == first && $0.isSlow != true }
        let members = calls.start.indices.filter { call in faults.contains { $0.covers(calls.start[call]) } }
        guard members.count > 2 * members.count(where: { calls.failure[$0] > 0 }) else { return nil }
        let seconds = faults.reduce(0) { $0 + (($1.until ?? report.duration) - $1.from) }
        return "Without switching, \(VerdictText.count(members.count)) calls in \(VerdictText.seconds(seconds)) "
            + "would have gone to \(report.servers[first]) while it was faulty."
    }
}

extension VerdictFacts {
    /// Sets which servers failed or were slow, whether they recovered, and the longest time in which no server
    /// responded.
    fileprivate mutating func takeFaults(of report: Report, _ periods: [FailingPeriod], until end: Double) {
        func names(_ isIncluded: (ReportFault) -> Bool) -> [String] {
            Set(report.faults.filter(isIncluded).map(\.server)).sorted().map { report.servers[$0] }
        }
        serverCount = report.servers.count
        failedServers = names { $0.isSlow != true }
        slowServers = names { $0.isSlow == true }
        notRecovered = names { $0.until == nil }
        hasUntriedServer = report.faults.contains { $0.isUntried == true }
        areBack = report.faults.allSatisfy(\.isOver)
        let longest = periods.max { ($0.until ?? end) - $0.from < ($1.until ?? end) - $1.from }
        secondsWithoutServer = longest.map { ($0.until ?? end) - $0.from }
        wasDownAtEnd = longest.map { $0.until == nil } ?? false
    }
}
