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
    /// The number of these calls that succeeded, by the server that responded.
    var savedBy: [String: Int] = [:]
    /// The number of failed probes.
    var failedProbes = 0

    /// A description of the failure, its effect on calls, and the probes.
    func words(nextProbe: Duration?) -> String {
        let probe = nextProbe.map { "next probe in \(Int($0.inSeconds.rounded(.up))) s" }
        let probes = failedProbes == 1 ? "1 probe failed" : "\(failedProbes) probes failed"
        return [what, callWords, failedProbes > 0 ? probes : nil, probe].compactMap(\.self).joined(separator: "; ")
    }

    private var callWords: String? {
        guard calls > 0 else { return "no call failed because of it" }
        let met = calls == 1 ? "1 call met the failure" : "\(VerdictText.count(calls)) calls met the failure"
        let servers = savedBy.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        guard !servers.isEmpty else { return "\(met), and none of them succeeded" }
        let saved = servers.map { "\(VerdictText.count($0.value)) succeeded at \($0.key)" }
        return "\(met), \(saved.joined(separator: ", "))"
    }
}

/// The outages of all servers that are not in service.
struct ServerOutages: Sendable {
    /// A call with an attempt that failed because of a server.
    private struct Meeting: Sendable {
        var start: Double
        var end: Double
        var savedBy: String?
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
            let isFailure = attempt.error != nil || (attempt.status ?? 0) >= 500 || attempt.isCut == true
            guard isFailure else { continue }
            add(Meeting(start: attempt.start, end: end, savedBy: winner), at: server)
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
            outage.add(meeting.savedBy, since: meeting.start)
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
            open[server]?.add(meeting.savedBy, since: meeting.start)
            return
        }
        recent[server, default: []].append(meeting)
        if recent[server, default: []].count > Self.mostMeetings { recent[server]?.removeFirst(Self.mostMeetings / 2) }
    }
}

extension ServerOutage {
    /// Counts a call with an attempt that failed at the time `start`, and that `server` completed.
    fileprivate mutating func add(_ server: String?, since start: Double) {
        calls += 1
        since = min(since, start)
        if let server { savedBy[server, default: 0] += 1 }
    }
}
