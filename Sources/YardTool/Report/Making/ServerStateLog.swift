import Switchyard

/// Computes the state of each server over time from the events of a client.
struct ServerStateLog {
    private enum Health {
        case well, out, probing
    }

    private let story: TrafficStory
    private var health: [Health]
    private var current: Int
    private var since: [Double]
    private var spans: [ReportState] = []

    /// Creates a log in which all servers are healthy at the start.
    ///
    /// At the start, the server in use is the server that the first switch left. If there was no switch, it is the
    /// first server.
    init(_ story: TrafficStory) {
        self.story = story
        health = Array(repeating: .well, count: story.servers.count)
        since = Array(repeating: 0, count: story.servers.count)
        let first = story.notes.events.lazy.compactMap { event in
            if case .switched(let from, _, _) = event.kind { story.place(from) } else { nil }
        }
        current = first.first ?? 0
    }

    /// Returns the states of all servers.
    ///
    /// The states of one server are next to each other, in order of time.
    func states(until end: Double) -> [ReportState] {
        var book = self
        for event in story.notes.events { book.take(event) }
        for server in book.health.indices { book.close(server, at: end) }
        return book.spans.sorted { ($0.server, $0.from) < ($1.server, $1.from) }
    }

    private mutating func take(_ event: SwitchEvent) {
        var next = self
        next.apply(event.kind)
        let now = max(0, story.second(event.at))
        for server in health.indices where next.state(server) != state(server) {
            close(server, at: now)
            since[server] = now
        }
        health = next.health
        current = next.current
    }

    private mutating func apply(_ kind: SwitchEvent.Kind) {
        switch kind {
        case .switched(_, let to, _): current = story.place(to) ?? current
        case .ejected(let id, _, _): set(id, .out)
        case .probed(let id, let succeeded): if isOut(id) { set(id, succeeded ? .probing : .out) }
        case .trialStarted(let id, _): set(id, .probing)
        case .recovered(let id, _): set(id, .well)
        case .environmentChanged: health = health.map { _ in .well }
        case .pushed: break
        }
    }

    private func isOut(_ id: String) -> Bool { story.place(id).map { health[$0] != .well } ?? false }

    private mutating func set(_ id: String, _ condition: Health) {
        if let server = story.place(id) { health[server] = condition }
    }

    private func state(_ server: Int) -> ReportState.Kind {
        switch health[server] {
        case .out: .out
        case .probing: .probing
        case .well: server == current ? .inUse : .standby
        }
    }

    private mutating func close(_ server: Int, at now: Double) {
        guard now > since[server] else { return }
        spans.append(ReportState(server: server, from: since[server], until: now, state: state(server)))
    }
}
