import SwitchyardClient
import SwitchyardServices

/// The evidence for the ejection of a server (its removal from use for a time), which is kept until the server has
/// recovered.
///
/// It is kept here because the client resets its own statistics of a server when it ejects the server.
struct ServerOutage: Sendable, Equatable {
    /// The time of the first failure, in milliseconds since 1970.
    var since: Double
    /// A description of the failure, such as `refused connections`.
    var what: String
    /// The number of requests, and of failed requests, in the statistics that led to the ejection.
    var requests: Int
    var failures: Int
    /// The number of calls with an attempt that failed because of the outage.
    var calls = 0
    /// The number of these calls that succeeded at another server after the failure, by the other server.
    var failedOver: [String: Int] = [:]
    /// The number of these calls to which another server responded first, by the other server.
    ///
    /// Such a call was hedged: it was sent to a second server because the first was slow.
    var hedged: [String: Int] = [:]
    /// The number of failed probes.
    var failedProbes = 0

    /// A description of the failure, its effect on calls, and the probes.
    func words(nextProbe: Duration?) -> String {
        let probe = nextProbe.map { "next probe in \(Int($0.inSeconds.rounded(.up))) s" }
        let probes = failedProbes == 1 ? "1 probe failed" : "\(failedProbes) probes failed"
        return [what, callWords, failedProbes > 0 ? probes : nil, probe].compactMap(\.self).joined(separator: "; ")
    }

    private var callWords: String? {
        guard calls > 0 else { return "no call met the failure" }
        let met = calls == 1 ? "1 call met the failure" : "\(VerdictText.count(calls)) calls met the failure"
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

/// The outages of all servers that are not in service.
struct ServerOutages: Sendable {
    /// A call with an attempt that failed because of a server.
    fileprivate struct Meeting: Sendable {
        var start: Double
        var end: Double
        /// The server that responded, or `nil` if the call failed.
        var winner: String?
        /// Whether the attempt was cancelled because the other server responded first.
        var isHedged: Bool
    }

    /// The maximum time in milliseconds between two failures of one outage.
    private static let longestGap = 2_000.0
    /// The maximum number of recent failures that are remembered for a server.
    private static let mostMeetings = 200

    /// The outages that have not ended, by server.
    private(set) var open: [String: ServerOutage] = [:]
    /// The recent failures of servers that are in service.
    private var recent: [String: [Meeting]] = [:]

    /// Records a call that has ended.
    mutating func add(_ call: InspectedCall) {
        guard let end = call.end else { return }
        let last = call.attempts.last { $0.status.map { $0 < 500 } ?? false && $0.isCut != true }
        let winner = call.outcome?.error == nil ? last?.server : nil
        for attempt in call.attempts {
            guard let server = attempt.server, server != winner else { continue }
            // A hedge that is cancelled because the first server responds is no evidence against its own server.
            let isHedged = attempt.isCut == true && attempt.kind != .hedge
            guard attempt.error != nil || (attempt.status ?? 0) >= 500 || isHedged else { continue }
            add(Meeting(start: attempt.start, end: end, winner: winner, isHedged: isHedged), at: server)
        }
    }

    /// Records an ejection with the statistics that led to it.
    mutating func eject(_ server: String, _ statistics: HealthStatistics, at time: Double) {
        guard open[server] == nil else { return }
        var outage = ServerOutage(
            since: time,
            what: statistics.lastFailure?.deed ?? "failed",
            requests: statistics.requests,
            failures: statistics.failures
        )
        for meeting in recent.removeValue(forKey: server)?.reversed() ?? [] {
            guard outage.since - meeting.end <= Self.longestGap else { break }
            outage.add(meeting)
        }
        open[server] = outage
    }

    /// Records a probe of a server.
    mutating func probe(_ server: String, succeeded: Bool) {
        if !succeeded { open[server]?.failedProbes += 1 }
    }

    /// Records that a server is in service again.
    mutating func recover(_ server: String) {
        open[server] = nil
    }

    /// Records that the client has changed its environment, so that no server is ejected.
    mutating func reset() {
        (open, recent) = ([:], [:])
    }

    private mutating func add(_ meeting: Meeting, at server: String) {
        guard open[server] == nil else {
            // The end of a call may be reported after the ejection that the call has caused.
            open[server]?.add(meeting)
            return
        }
        recent[server, default: []].append(meeting)
        if recent[server, default: []].count > Self.mostMeetings { recent[server]?.removeFirst(Self.mostMeetings / 2) }
    }
}

extension ServerOutage {
    /// Counts a call with an attempt that failed.
    fileprivate mutating func add(_ meeting: ServerOutages.Meeting) {
        calls += 1
        since = min(since, meeting.start)
        guard let winner = meeting.winner else { return }
        if meeting.isHedged { hedged[winner, default: 0] += 1 } else { failedOver[winner, default: 0] += 1 }
    }
}
