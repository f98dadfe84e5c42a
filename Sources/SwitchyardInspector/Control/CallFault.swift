import SwitchyardClient
import SwitchyardServices
import SwitchyardTransport

/// A simulated fault: its kind, the number of calls, and the affected server.
struct CallFault: Sendable, Hashable {
    /// The effect of the fault on a request.
    enum Kind: Sendable, Hashable {
        /// The connection is refused, so no request is sent.
        case refused
        /// No response arrives before the timeout.
        case timeout
        /// The response has this status.
        case status(Int)
        /// The request is delayed before it is sent.
        case slow
    }

    var kind: Kind
    /// The number of calls in which the fault occurs.
    var calls: Int
    /// The server to whose requests the fault is applied; if `nil`, it is applied to the requests to all servers.
    var server: Server.ID?

    /// Returns a description of the fault.
    ///
    /// `left` is the number of calls in which the fault will still occur.
    func words(left: Int) -> String {
        let what =
            switch kind {
            case .refused: "connection refused"
            case .timeout: "no response"
            case .status(let status): "status \(status)"
            case .slow: "delay of \(SimulatedTransport.delay)"
            }
        let count = left == 1 ? "the next call" : "the next \(left) calls"
        return "\(what) for \(count) to \(server.map { "server \($0)" } ?? "any server")"
    }
}

/// Applies the requested fault to the next calls.
///
/// The fault is applied to every attempt of an affected call.
final class FaultController: Sendable {
    private struct State {
        var fault: CallFault?
        /// The calls in which the fault has occurred so far.
        var met: Set<RequestID> = []
    }

    private let time: any TimeSource
    private let state = Locked(State())

    init(time: any TimeSource) {
        self.time = time
    }

    /// A description of the current fault, or `nil` if no fault is active.
    var words: String? {
        state.withLock { state in
            guard let fault = state.fault, state.met.count < fault.calls else { return nil }
            return fault.words(left: fault.calls - state.met.count)
        }
    }

    /// Sets a fault, which replaces the previous fault.
    func order(_ fault: CallFault) {
        state.withLock { $0 = State(fault: fault) }
    }

    /// Removes the fault.
    func clear() {
        state.withLock { $0 = State() }
    }

    /// Returns the transport for one request of a call.
    ///
    /// If the fault applies to the call and the server, this is a transport that simulates the fault; otherwise, it is
    /// `transport`.
    func carrier(for id: RequestID, to server: Server.ID?, usually transport: any Transport) -> any Transport {
        let fault: CallFault? = state.withLock { state in
            guard let fault = state.fault, fault.server == nil || fault.server == server else { return nil }
            guard state.met.contains(id) || state.met.count < fault.calls else { return nil }
            state.met.insert(id)
            return fault
        }
        guard let fault else { return transport }
        return SimulatedTransport(kind: fault.kind, transport: transport, time: time)
    }
}
