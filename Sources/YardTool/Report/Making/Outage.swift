import Switchyard
import SwitchyardInspector

/// A failure of a server, with its start and end.
struct Outage: Sendable, Equatable {
    /// A change of the preferred server.
    struct Move: Sendable, Equatable {
        var to: Int
        var at: Double
    }

    var server: Int
    /// The start of the failure.
    ///
    /// This is the start of the injected fault, if it was recorded. Otherwise, it is the due time of the first call
    /// that failed or needed another server.
    var from: Double
    /// The end of the failure, or `nil` if it did not end.
    ///
    /// This is the end of the injected fault, if it was recorded. Otherwise, it is the first of the successful probes
    /// before the recovery. Without an ejection, it is the due time of the first call after the failures. If the server
    /// was not tried again after an outage of all servers, it is the end of that outage or the time of the server's
    /// ejection, whichever is later.
    var until: Double?
    var what: String
    var isKnown = false
    /// Whether the server was ejected (taken out of use for a time) only because it was slow: its responses were late,
    /// but none of its calls and probes failed.
    var isSlow = false
    /// The time of the ejection, or `nil` if calls failed without an ejection.
    ///
    /// `cause` is the cause of the ejection.
    var ejectedAt: Double?
    var cause: SwitchCause?
    /// The switch of the client to another server, or `nil` if it did not switch.
    var move: Move?
    /// The time at which the server was preferred again, or `nil` if it was not preferred again.
    var backAt: Double?
    /// Whether no request was sent to the server after ``until``, so that the end is not confirmed.
    var isUntried = false

    /// The outage as a fault in the report.
    var fault: ReportFault {
        ReportFault(
            server: server,
            from: from,
            until: until,
            what: what,
            isKnown: isKnown,
            isSlow: isSlow ? true : nil,
            isUntried: isUntried ? true : nil
        )
    }

    /// Returns all outages of a run in order.
    static func all(of story: TrafficStory, _ calls: ReportCalls) -> [Outage] {
        var reader = OutageReader(story)
        for event in story.notes.events { reader.take(event) }
        let ejections = reader.outages.map { outage in
            var outage = outage
            if !outage.take(story) {
                outage.from = firstTrouble(before: outage, of: reader.outages, calls)
                outage.endIfUntried(in: story)
            }
            return outage
        }
        let failing = FailingPeriod.all(in: story, apartFrom: ejections).flatMap { period in
            period.servers.filter { server in !ejections.contains { $0.server == server && $0.overlaps(period) } }
                .map { server in
                    Outage(
                        server: server,
                        from: period.start(of: server, in: story),
                        until: period.end(of: server, in: story),
                        what: period.what
                    )
                }
        }
        return (ejections + failing).sorted { ($0.from, $0.server) < ($1.from, $1.server) }
    }

    private func overlaps(_ period: FailingPeriod) -> Bool {
        from <= period.until ?? .infinity && period.from <= until ?? .infinity
    }

    /// Copies the start, the end and the description of the recorded fault into the outage.
    ///
    /// Returns `false` if no fault was recorded.
    private mutating func take(_ story: TrafficStory) -> Bool {
        guard let ejectedAt else { return false }
        let known = story.notes.faults.last { story.place($0.server) == server && story.second($0.from) <= ejectedAt }
        guard let known, known.until.map({ story.second($0) >= ejectedAt }) ?? true else { return false }
        from = story.second(known.from)
        until = known.until.map(story.second)
        what = known.what
        (isKnown, isSlow) = (true, false)
        return true
    }

    /// If the server was not tried again after an outage of all servers, sets the end of its outage to the end of the
    /// outage of all servers, or to its ejection if that is later.
    ///
    /// After an outage of all servers, the client has no reason to try a server that it does not need. The report must
    /// not say that such a server was down until the end.
    private mutating func endIfUntried(in story: TrafficStory) {
        guard until == nil, let ejectedAt else { return }
        let ends = FailingPeriod.withoutServer(in: story).filter { $0.until.map { $0 >= from } ?? false }.map(\.until)
        guard let last = ends.compactMap(\.self).max() else { return }
        let end = max(ejectedAt, last)
        let probes = story.notes.events.filter { event in
            if case .probed(let id, _) = event.kind { story.place(id) == server } else { false }
        }
        let attempts = story.notes.calls.flatMap { call in
            call.sent.filter { story.place($0.server) == server }.map { call.start.advanced(by: $0.after) }
        }
        guard !(probes.map(\.at) + attempts).contains(where: { story.second($0) > end }) else { return }
        (until, isUntried) = (end, true)
    }

    /// The maximum time in seconds from one troubled call (`ReportCalls.isTroubled`) to the next within the same
    /// outage.
    private static let longestGap = 2.0

    /// Returns the due time of the first call that failed or needed another server because of this outage.
    ///
    /// Such calls belong to the outage if they were due after the server's previous outage, with at most two seconds
    /// between one call and the next, and between the last call and the ejection.
    private static func firstTrouble(before outage: Outage, of all: [Outage], _ calls: ReportCalls) -> Double {
        guard let ejectedAt = outage.ejectedAt else { return outage.from }
        let earlier = all.last { $0.server == outage.server && $0.ejectedAt ?? .infinity < ejectedAt }
        let end = earlier.flatMap { $0.until ?? $0.ejectedAt } ?? -.infinity
        var first = ejectedAt
        for call in calls.start.indices.reversed() where calls.start[call] <= ejectedAt {
            guard first - calls.start[call] <= longestGap, calls.start[call] >= end else { break }
            if calls.isTroubled(call, by: outage.server) { first = calls.start[call] }
        }
        return first
    }
}

/// Finds the outages in the events of a client.
private struct OutageReader {
    private let story: TrafficStory
    private(set) var outages: [Outage] = []
    /// The indexes of the outages that have not ended, by server.
    private var open: [Int: Int] = [:]
    /// The time of the first successful probe since the last failed probe, by server.
    private var goodSince: [Int: Double] = [:]

    init(_ story: TrafficStory) {
        self.story = story
    }

    mutating func take(_ event: SwitchEvent) {
        let now = story.second(event.at)
        switch event.kind {
        case .ejected(let id, _, let cause):
            guard let server = story.place(id) else { return }
            goodSince[server] = nil
            begin(server, cause, event.statistics, at: now)
        case .switched(let from, let to, let cause):
            switched(story.place(from), story.place(to), cause, event.statistics, at: now)
        case .probed(let id, let succeeded):
            guard let server = story.place(id) else { return }
            goodSince[server] = succeeded ? goodSince[server] ?? now : nil
            if !succeeded { failed(server) }
        case .recovered(let id, _):
            guard let server = story.place(id), let index = open.removeValue(forKey: server) else { return }
            outages[index].until = goodSince[server] ?? now
        case .environmentChanged: open = [:]
        case .trialStarted, .pushed: break
        }
    }

    private mutating func begin(_ server: Int, _ cause: SwitchCause, _ figures: HealthStatistics, at now: Double) {
        guard open[server] == nil else { return }
        open[server] = outages.count
        var outage = Outage(server: server, from: now, what: figures.deed(cause), ejectedAt: now, cause: cause)
        outage.isSlow = figures.showsOnlySlowness(cause)
        outages.append(outage)
    }

    /// Records that an ejected server has not responded to a probe, so that it was not only slow.
    private mutating func failed(_ server: Int) {
        guard let index = open[server], outages[index].isSlow else { return }
        (outages[index].isSlow, outages[index].what) = (false, FailureKind.overtaken.deed)
    }

    private mutating func switched(
        _ from: Int?,
        _ to: Int?,
        _ cause: SwitchCause,
        _ figures: HealthStatistics,
        at now: Double
    ) {
        guard let from, let to else { return }
        if cause.blamesServer { begin(from, cause, figures, at: now) }
        if let index = open[from], outages[index].move == nil { outages[index].move = Outage.Move(to: to, at: now) }
        if let index = outages.lastIndex(where: { $0.server == to }), outages[index].backAt == nil {
            outages[index].backAt = now
        }
    }
}
