import SwitchyardClient
import SwitchyardServices

/// The evidence for the ejection of a server (its removal from use for a time), which is kept after the recovery of the
/// server until its next ejection.
///
/// It is kept here because the client resets its own statistics of a server when it ejects the server.
struct ServerOutage: Sendable, Equatable {
    /// The time of the first failure, in milliseconds since 1970.
    var since: Double
    /// The time for which the server was out of service, in milliseconds, or `nil` during the outage.
    var length: Double?
    /// A description of the failure, such as `refused connections`.
    var what: String
    /// The number of calls whose first attempt failed because of the outage.
    var calls = 0
    /// The number of ``calls`` that succeeded at another server after the failure, by the name of that server.
    var failedOver: [String: Int] = [:]
    /// The number of ``calls`` to which another server responded first, by the name of that server.
    ///
    /// Such a call was hedged: it was sent to a second server because the first was slow.
    var hedged: [String: Int] = [:]
    /// The number of failed probes.
    var failedProbes = 0

    /// Whether the server was only slow so far.
    var isSlow: Bool { what == Slowness.deed }

    /// The calls that another server completed when this server had neither responded nor failed.
    fileprivate var rescued = SavedCalls()

    /// The number of ``rescued`` calls, or none if the server was only slow.
    ///
    /// A server that was only slow would have responded, so no call was saved from it.
    fileprivate var saved: SavedCalls { isSlow ? SavedCalls() : rescued }

    /// A description of the failure, its effect on calls, and the probes.
    func words(nextProbe: Duration? = nil) -> String {
        let probe = nextProbe.map { "next probe in \(Int($0.inSeconds.rounded(.up))) s" }
        let probes = failedProbes == 1 ? "1 probe failed" : "\(failedProbes) probes failed"
        return [what, callWords, failedProbes > 0 ? probes : nil, probe].compactMap(\.self).joined(separator: "; ")
    }

    /// A description of the outage after its end.
    var pastWords: String? {
        length.map { "was out of service for \(VerdictText.milliseconds($0)): \(words())" }
    }

    private var callWords: String? {
        guard calls > 0 else { return "no call was affected" }
        let met = calls == 1 ? "1 call was affected" : "\(VerdictText.count(calls)) calls were affected"
        let failed = calls - failedOver.values.reduce(0, +) - hedged.values.reduce(0, +)
        let parts =
            Self.words(failedOver, "failed over to") + Self.words(hedged, "hedged with")
            + (failed > 0 ? ["\(VerdictText.count(failed)) failed"] : [])
        return "\(met): \(parts.joined(separator: ", "))"
    }

    /// Returns the number of calls at each server, the largest number first.
    private static func words(_ calls: [String: Int], _ verb: String) -> [String] {
        calls.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\(VerdictText.count($0.value)) \(verb) \($0.key)" }
    }
}

/// The last outage of each server, and the calls that were saved from all outages.
struct ServerOutages: Sendable {
    /// A call whose first attempt failed because of a server.
    fileprivate struct Meeting: Sendable {
        var start: Double
        var end: Double
        /// The server that responded, or `nil` if the call failed.
        var winner: String?
        /// Whether the response came from a hedge: a second request that was sent because the first server was slow.
        var isHedged: Bool
        /// Whether the server was still working on the call when the other server responded or the client took it out
        /// of service.
        var isCut: Bool
    }

    /// The maximum time in milliseconds between two failures of one outage.
    private static let longestGap = 2_000.0
    /// The maximum number of recent failures that are remembered for a server.
    private static let mostMeetings = 200

    /// The last outage of each server, which may have ended.
    private(set) var last: [String: ServerOutage] = [:]
    /// The recent failures of servers that are in service.
    private var recent: [String: [Meeting]] = [:]
    /// The saved calls that are not counted by the outages in ``last``: calls that succeeded at another server after
    /// the first server had failed them, and calls that were saved from earlier outages.
    private var counted = SavedCalls()

    /// The calls that were saved.
    ///
    /// A call that failed at its first server and succeeded at another server counts as saved even if the first server
    /// stays in service. Any other call counts as saved only from an outage, because a server that stays in service, or
    /// that was only slow, has not failed.
    var saved: SavedCalls { last.values.reduce(counted) { $0 + $1.saved } }

    /// Records a call that has ended.
    ///
    /// A call with a request error is not counted, because it neither succeeded nor failed because of a server.
    mutating func add(_ call: InspectedCall) {
        let kind = call.outcome?.kind
        guard let end = call.end, kind.map(VerdictText.blamesServer) ?? true else { return }
        let last = kind == nil ? call.attempts.last { $0.status != nil && $0.isCut != true } : nil
        // A call that failed at several servers counts for the first of them, so that the counts of the servers add up.
        guard let first = call.attempts.first, let server = first.server, server != last?.server else { return }
        let hasFailed = first.error != nil || (first.status ?? 0) >= 500
        guard first.kind != .hedge, hasFailed || first.isCut == true else { return }
        let meeting = Meeting(
            start: first.start,
            end: end,
            winner: last?.server,
            isHedged: last?.kind == .hedge,
            isCut: !hasFailed
        )
        if hasFailed { counted = counted + meeting.saved }
        add(meeting, at: server)
    }

    /// Records an ejection with the statistics that led to it.
    mutating func eject(_ server: String, _ statistics: HealthStatistics, _ cause: SwitchCause, at time: Double) {
        guard !isOpen(server) else { return }
        var outage = ServerOutage(since: time, what: statistics.deed(cause))
        for meeting in recent.removeValue(forKey: server)?.reversed() ?? [] {
            guard outage.since - meeting.end <= Self.longestGap else { break }
            outage.add(meeting)
        }
        counted = counted + (last[server]?.saved ?? SavedCalls())
        last[server] = outage
    }

    /// Records a probe of a server.
    mutating func probe(_ server: String, succeeded: Bool) {
        guard !succeeded, isOpen(server) else { return }
        last[server]?.failedProbes += 1
        if last[server]?.isSlow == true { last[server]?.what = FailureKind.overtaken.deed }
    }

    /// Records that a server is in service again, after this time in milliseconds.
    mutating func recover(_ server: String, after length: Double) {
        if isOpen(server) { last[server]?.length = length }
    }

    /// Records that the client has changed its environment, so that no server is ejected.
    mutating func reset() {
        counted = saved
        (last, recent) = ([:], [:])
    }

    /// Returns whether the server's last outage has not ended, and the server was only slow so far.
    func isOnlySlow(_ server: String) -> Bool { isOpen(server) && last[server]?.isSlow == true }

    /// Returns whether the server's last outage has not ended.
    private func isOpen(_ server: String) -> Bool { last[server].map { $0.length == nil } ?? false }

    private mutating func add(_ meeting: Meeting, at server: String) {
        guard !isOpen(server) else {
            // The end of a call may be reported after the ejection that the call has caused.
            last[server]?.add(meeting)
            return
        }
        recent[server, default: []].append(meeting)
        if recent[server, default: []].count > Self.mostMeetings { recent[server]?.removeFirst(Self.mostMeetings / 2) }
    }
}

extension ServerOutage {
    /// Counts a call whose first attempt failed because of this server.
    fileprivate mutating func add(_ meeting: ServerOutages.Meeting) {
        calls += 1
        since = min(since, meeting.start)
        guard let winner = meeting.winner else { return }
        if meeting.isHedged { hedged[winner, default: 0] += 1 } else { failedOver[winner, default: 0] += 1 }
        if meeting.isCut { rescued = rescued + meeting.saved }
    }
}

extension ServerOutages.Meeting {
    /// The call as a number of saved calls.
    fileprivate var saved: SavedCalls {
        guard winner != nil else { return SavedCalls() }
        return isHedged ? SavedCalls(hedged: 1) : SavedCalls(failedOver: 1)
    }
}
