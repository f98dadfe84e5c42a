import Foundation
import Switchyard
import SwitchyardInspector

/// All data about a completed run of real calls that its report needs.
struct TrafficStory: Sendable {
    /// The program that made the calls, such as `yard load`.
    var title: String
    var facts: [Report.Fact] = []
    /// The names of the servers in order of preference.
    var servers: [String]
    /// The start of the run on the client's clock.
    ///
    /// `startedAt` is the start on the wall clock.
    var origin: MonotonicTime
    var startedAt: Date?
    var notes: TrafficRecorder.Content
    /// The share of failed calls that counts as good, from 0 to 1.
    var tolerance = 0.0
    /// The waiting times that the report marks.
    var limits: [ReportLimit] = []

    /// The deadline of the calls in seconds, or `nil` if it is unknown.
    var deadline: Double? { limits.first { $0.name == ReportLimit.deadline }.map { $0.wait / 1_000 } }

    /// Converts a time of the client's clock to seconds since the start of the run.
    func second(_ time: MonotonicTime) -> Double { (origin.duration(to: time) / .seconds(1)).rounded(places: 4) }

    /// Returns the index of a server, or `nil` if it is not in the list.
    func place(_ server: String?) -> Int? { server.flatMap(servers.firstIndex(of:)) }

    /// The time at which the last call or event ended, in seconds since the start of the run.
    var end: Double {
        let calls = notes.calls.map { second($0.start.advanced(by: $0.wait)) }
        return max(0, calls.max() ?? 0, notes.events.last.map { second($0.at) } ?? 0)
    }
}

extension Report {
    /// Creates the report of a run of real calls.
    ///
    /// A call that was cancelled because the run was interrupted says nothing about the servers and is left out.
    init(of story: TrafficStory) {
        var story = story
        story.notes.calls.removeAll { $0.failure == "cancelled" }
        var calls = ReportCalls(of: story)
        let end = story.end
        let outages = Outage.all(of: story, calls)
        self.init(
            kind: .calls,
            title: story.title,
            facts: story.facts,
            startedAt: story.startedAt?.timeIntervalSince1970.rounded(places: 3),
            duration: end,
            servers: story.servers
        )
        faults = outages.map(\.fault)
        calls.findSaved(in: story, faults)
        phases = ReportPhase.all(of: calls, faults)
        marks = story.marks(with: outages)
        states = ServerStateLog(story).states(until: end).flatMap { $0.showing(outages) }
        totals = ReportTotal.all(of: calls, servers: story.servers.count)
        rates = ReportRates(of: calls, servers: story.servers.count, until: end)
        rates?.count(story)
        limits = story.limits.isEmpty ? nil : story.limits
        self.calls = calls
        impacts = ReportImpact.all(of: outages, calls)
        summary = TrafficSummary(report: self, outages: outages).text
        verdict = Verdict(of: self, story)
    }
}

extension ReportCalls {
    /// Converts the calls of a run to arrays with one element per call, sorted by start time.
    init(of story: TrafficStory) {
        var kinds: [String: Int] = [:]
        let calls = story.notes.calls.sorted { $0.start < $1.start }
        if calls.contains(where: { !$0.sent.isEmpty }) {
            first = calls.map { $0.way == .direct ? -1 : story.place($0.sent.first?.server) ?? -1 }
        }
        for call in calls {
            start.append(story.second(call.start))
            wait.append((call.wait / .milliseconds(1)).rounded(places: 3))
            server.append(story.place(call.server) ?? -1)
            way.append(call.way.rawValue)
            guard let kind = call.failure else {
                failure.append(0)
                continue
            }
            if kinds[kind] == nil {
                failures.append(kind)
                kinds[kind] = failures.count
            }
            failure.append(kinds[kind] ?? 0)
        }
        reasons = failures.map { VerdictText.failure($0, deadline: story.deadline) }
    }

    /// Returns whether a call failed because of a server, or was hedged or failed over from `server` and received its
    /// response from another server.
    func isTroubled(_ call: Int, by server: Int) -> Bool {
        if kind(of: call)?.blamesServer == true { return true }
        let first = firstServer(of: call) ?? server
        return way[call] != CallWay.direct.rawValue && self.server[call] != server && first == server
    }

    /// Returns the server that received the first attempt of a call, or `nil` if it is unknown.
    func firstServer(of call: Int) -> Int? { first.flatMap { $0[call] >= 0 ? $0[call] : nil } }

    /// Returns the kind of failure of a call, or `nil` if it succeeded.
    func kind(of call: Int) -> String? { failure[call] > 0 ? failures[failure[call] - 1] : nil }
}
