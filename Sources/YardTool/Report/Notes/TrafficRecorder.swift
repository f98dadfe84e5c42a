import Switchyard

/// Collects the data of a report during a run: calls, events of the client, and injected faults.
final class TrafficRecorder: Sendable {
    /// The collected data.
    struct Content: Sendable {
        var calls: [RecordedCall] = []
        var events: [SwitchEvent] = []
        var faults: [RecordedFault] = []
    }

    private let state = Locked(Content())

    /// The data that has been collected so far.
    var content: Content { state.withLock { $0 } }

    func add(_ call: RecordedCall) {
        state.withLock { $0.calls.append(call) }
    }

    func add(_ event: SwitchEvent) {
        state.withLock { $0.events.append(event) }
    }

    /// Records that a fault of a server starts now.
    func beginFault(of server: String, _ what: String) {
        let fault = RecordedFault(server: server, from: SystemTime.shared.now, what: what)
        state.withLock { $0.faults.append(fault) }
    }

    /// Records that the fault of a server ends now.
    func endFault(of server: String) {
        let now = SystemTime.shared.now
        state.withLock { content in
            let index = content.faults.lastIndex { $0.server == server && $0.until == nil }
            if let index { content.faults[index].until = now }
        }
    }
}

/// A fault that the tool has injected.
struct RecordedFault: Sendable {
    var server: String
    var from: MonotonicTime
    var until: MonotonicTime?
    /// A description of the fault, such as `was killed`.
    var what: String
}
