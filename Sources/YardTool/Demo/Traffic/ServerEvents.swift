import Switchyard
import SwitchyardInspector

/// Prints and counts the events of the servers, and passes them to steps that wait for an event.
final class ServerEvents: Sendable {
    /// The numbers of events by kind.
    struct Count: Sendable {
        var switches = 0
        var failBacks = 0
        var environmentSwitches = 0
    }

    private struct State {
        var count = Count()
        var outages: [Server.ID: Duration] = [:]
        var listeners: [AsyncStream<SwitchEvent.Kind>.Continuation] = []
    }

    private let screen: DemoScreen
    private let notes: TrafficRecorder
    private let state = Locked(State())

    init(screen: DemoScreen, notes: TrafficRecorder) {
        self.screen = screen
        self.notes = notes
    }

    /// The numbers of events so far.
    var count: Count { state.withLock { $0.count } }

    /// Returns the time for which a server was out of service, not counting an outage that has not ended.
    func outage(of server: Server.ID) -> Duration? { state.withLock { $0.outages[server] } }

    /// Returns a stream of the events that occur after this call.
    ///
    /// An event is delivered after it has been printed.
    func listen() -> AsyncStream<SwitchEvent.Kind> {
        let (stream, continuation) = AsyncStream.makeStream(of: SwitchEvent.Kind.self)
        state.withLock { $0.listeners.append(continuation) }
        return stream
    }

    /// Handles the events of a client.
    ///
    /// Returns when the client is released and its stream of events ends.
    func follow(_ events: AsyncStream<ClientEvent>) async {
        for await event in events {
            notes.add(event.event)
            if let line = take(event.event) { screen.say("event: \(line)", .dim) }
            for listener in state.withLock({ $0.listeners }) { listener.yield(event.event.kind) }
        }
        for listener in state.withLock({ $0.listeners }) { listener.finish() }
    }

    /// Counts an event and returns its description, or `nil` if it is not printed.
    private func take(_ event: SwitchEvent) -> String? {
        switch event.kind {
        case .switched(_, _, let cause):
            state.withLock { state in
                if cause == .recovered { state.count.failBacks += 1 } else { state.count.switches += 1 }
            }
        case .environmentChanged: state.withLock { $0.count.environmentSwitches += 1 }
        case .recovered(let server, let outage): state.withLock { $0.outages[server, default: .zero] += outage }
        case .ejected: break
        case .probed, .trialStarted, .pushed: return nil
        }
        return event.sentence
    }
}
