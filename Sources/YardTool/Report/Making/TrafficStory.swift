import Foundation
import Switchyard

/// A run of real calls that has ended: all that its report is made of.
struct TrafficStory: Sendable {
    /// What made it, such as `yard load`.
    var title: String
    var facts: [Report.Fact] = []
    /// The names of the servers, in order of preference.
    var servers: [String]
    /// When it began, on the clock of the client and on the wall.
    var origin: MonotonicTime
    var startedAt: Date?
    var notes: TrafficNotes.Content

    /// How many seconds after the beginning that was.
    func second(_ time: MonotonicTime) -> Double { (origin.duration(to: time) / .seconds(1)).rounded(places: 4) }

    /// The place of a server in the list; `nil` for a stranger.
    func place(_ server: String?) -> Int? { server.flatMap(servers.firstIndex(of:)) }

    /// When the last call had ended, and the last event had come.
    var end: Double {
        let calls = notes.calls.map { second($0.start.advanced(by: $0.wait)) }
        return max(0, calls.max() ?? 0, notes.events.last.map { second($0.at) } ?? 0)
    }
}

extension Report {
    /// Makes the report of a run of real calls.
    init(of story: TrafficStory) {
        let calls = ReportCalls(of: story)
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
        phases = ReportPhase.all(of: calls, faults)
        marks = story.marks
        states = StateBook(story).states(until: end)
        totals = ReportTotal.all(of: calls, servers: story.servers.count)
        rates = ReportRates(of: calls, servers: story.servers.count, until: end)
        self.calls = calls
        summary = TrafficSummary(report: self, outages: outages).text
    }
}

extension ReportCalls {
    /// Puts the calls of a run into columns, in order.
    init(of story: TrafficStory) {
        var kinds: [String: Int] = [:]
        for call in story.notes.calls.sorted(by: { $0.start < $1.start }) {
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
    }

    /// Whether another server had to be asked than the one of that place, or the call failed.
    func isTroubled(_ call: Int, by server: Int) -> Bool {
        failure[call] > 0 || way[call] != CallWay.direct.rawValue && self.server[call] != server
    }
}
