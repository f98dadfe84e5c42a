import Switchyard

/// A time in which a server was out of service, with its beginning and its end.
struct Outage: Sendable, Equatable {
    /// A change of the preferred server.
    struct Move: Sendable, Equatable {
        var to: Int
        var at: Double
    }

    var server: Int
    /// When the server stopped doing as it should: by who made the fault, or by the first call that had to go elsewhere.
    var from: Double
    /// When it was well again, by the same witnesses or by its first good probe; `nil` when it was not.
    var until: Double?
    var what: String
    var isKnown = false
    /// When it was taken out of service.
    var ejectedAt: Double
    var cause: SwitchCause
    /// When another server was preferred in its place.
    var move: Move?
    /// When it was preferred again.
    var backAt: Double?

    /// What the report says of it.
    var fault: ReportFault { ReportFault(server: server, from: from, until: until, what: what, isKnown: isKnown) }

    /// All outages of a run, in order.
    static func all(of story: TrafficStory, _ calls: ReportCalls) -> [Outage] {
        var reader = OutageReader(story)
        for event in story.notes.events { reader.take(event) }
        return reader.outages.map { outage in
            var outage = outage
            if !outage.take(story) { outage.from = firstTrouble(before: outage, calls) }
            return outage
        }
    }

    /// Takes over what whoever made the fault knows of it; `false` when nobody does.
    private mutating func take(_ story: TrafficStory) -> Bool {
        let known = story.notes.faults.last { story.place($0.server) == server && story.second($0.from) <= ejectedAt }
        guard let known, known.until.map({ story.second($0) >= ejectedAt }) ?? true else { return false }
        from = story.second(known.from)
        until = known.until.map(story.second)
        what = known.what
        isKnown = true
        return true
    }

    /// The longest time between two calls in trouble that belong to one fault, in seconds.
    private static let longestGap = 2.0

    /// When the first of the calls was due that had to go elsewhere and led to the ejection, each at most two seconds
    /// before the next.
    private static func firstTrouble(before outage: Outage, _ calls: ReportCalls) -> Double {
        var first = outage.ejectedAt
        for call in calls.start.indices.reversed() where calls.start[call] <= outage.ejectedAt {
            guard first - calls.start[call] <= longestGap else { break }
            if calls.isTroubled(call, by: outage.server) { first = calls.start[call] }
        }
        return first
    }
}

/// Finds the outages in the events of a client.
private struct OutageReader {
    private let story: TrafficStory
    private(set) var outages: [Outage] = []
    /// The outages that are not over, by server.
    private var open: [Int: Int] = [:]
    /// The first good probe since the last bad one, by server.
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
        let what = figures.lastFailure?.deed ?? "failed"
        outages.append(Outage(server: server, from: now, what: what, ejectedAt: now, cause: cause))
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
