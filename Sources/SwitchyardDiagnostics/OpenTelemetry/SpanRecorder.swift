import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Makes spans of the events of calls.
final class SpanRecorder: Sendable {
    /// The maximum number of calls in progress that are recorded.
    ///
    /// The end of a call may be missing, because a client drops events if too many wait. If the table is full, the
    /// oldest call is therefore removed.
    static let limit = 10_000

    private struct State {
        var calls: [RequestID: TracedCall] = [:]
        var lost = 0
    }

    let tracer: Tracer
    private let conventions: HTTPConventions
    private let clock: @Sendable () -> EventClock
    private let state = Locked(State())

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - tracer: The tracer that gives calls their identifiers.
    ///   - conventions: The names and attributes.
    ///   - clock: Returns a converter for the times of a call that starts now.
    init(
        _ tracer: Tracer,
        _ conventions: HTTPConventions,
        clock: @escaping @Sendable () -> EventClock
    ) {
        (self.tracer, self.conventions, self.clock) = (tracer, conventions, clock)
    }

    /// The number of calls whose end was never reported.
    var lostCalls: Int { state.withLock { $0.lost } }

    /// Records an event.
    ///
    /// - Returns: The spans of a call that has ended and that is sampled, otherwise none.
    func observe(_ event: DispatchEvent) -> [Span] {
        switch event.kind {
        case .dispatched(let configuration): begin(configuration, event)
        case .ended(let result):
            guard let call = state.withLock({ $0.calls.removeValue(forKey: event.id) }) else { return [] }
            return call.trace.context.isSampled ? call.spans(endedWith: result, at: event.time) : []
        default:
            state.withLock { state in
                state.calls[event.id]?.take(event)
                // The sampled flag is final when a round begins. If it is unset, the call is forgotten.
                guard case .roundBegan = event.kind, state.calls[event.id]?.trace.context.isSampled == false else {
                    return
                }
                state.calls[event.id] = nil
            }
        }
        return []
    }

    /// Adds a switch of the preferred server to the calls in progress.
    func switched(_ attributes: Attributes, service: String, in environment: ServiceEnvironment, at time: MonotonicTime)
    {
        state.withLock { state in
            for (id, call) in state.calls where call.service == service && call.environment == environment {
                state.calls[id]?.add("switchyard.switched", attributes, at: time)
            }
        }
    }

    private func begin(_ configuration: APIConfiguration, _ event: DispatchEvent) {
        let trace = tracer.trace(of: event.id, configuration, current: nil)
        let call = TracedCall(configuration, event, trace, clock(), conventions)
        state.withLock { state in
            if state.calls.count >= Self.limit, let oldest = state.calls.keys.min() {
                state.calls[oldest] = nil
                state.lost += 1
            }
            state.calls[event.id] = call
        }
    }
}
