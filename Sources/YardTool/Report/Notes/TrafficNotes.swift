import Switchyard

/// Collects what a report is made of, while it happens: calls, events of the client, and faults by whoever makes them.
final class TrafficNotes: Sendable {
    /// What was collected.
    struct Content: Sendable {
        var calls: [NotedCall] = []
        var events: [SwitchEvent] = []
        var faults: [NotedFault] = []
    }

    private let state = Locked(Content())

    /// What was collected so far.
    var content: Content { state.withLock { $0 } }

    func add(_ call: NotedCall) {
        state.withLock { $0.calls.append(call) }
    }

    func add(_ event: SwitchEvent) {
        state.withLock { $0.events.append(event) }
    }

    /// Takes note that something was done to a server now.
    func beginFault(of server: String, _ what: String) {
        let fault = NotedFault(server: server, from: SystemTime.shared.now, what: what)
        state.withLock { $0.faults.append(fault) }
    }

    /// Takes note that a server works again from now on.
    func endFault(of server: String) {
        let now = SystemTime.shared.now
        state.withLock { content in
            let index = content.faults.lastIndex { $0.server == server && $0.until == nil }
            if let index { content.faults[index].until = now }
        }
    }
}

/// A fault, as whoever made it knows it.
struct NotedFault: Sendable {
    var server: String
    var from: MonotonicTime
    var until: MonotonicTime?
    /// What was done to the server, such as `was killed`.
    var what: String
}
