import SwitchyardClient
import SwitchyardServices
import SwitchyardTransport

/// What is simulated, for whom and how often.
struct CallFault: Sendable, Hashable {
    /// What becomes of a request.
    enum Kind: Sendable, Hashable {
        /// Nothing listens at the address.
        case refused
        /// No answer comes.
        case timeout
        /// The answer is a status.
        case status(Int)
        /// It waits for a while before it goes.
        case slow
    }

    var kind: Kind
    /// How many calls meet it.
    var calls: Int
    /// The server that has it; all when `nil`.
    var server: Server.ID?

    /// What is simulated, in words, when so many calls are left.
    func words(left: Int) -> String {
        let what =
            switch kind {
            case .refused: "connection refused"
            case .timeout: "no answer"
            case .status(let status): "\(status)"
            case .slow: "\(SimulatedTransport.delay) late"
            }
        let count = left == 1 ? "the next call" : "the next \(left) calls"
        return "\(what) for \(count) of \(server.map { "server \($0)" } ?? "all servers")"
    }
}

/// Hands out the fault that was ordered: to so many calls, to each in all of its attempts.
final class FaultDesk: Sendable {
    private struct State {
        var fault: CallFault?
        /// The calls that have met it.
        var met: Set<RequestID> = []
    }

    private let time: any TimeSource
    private let state = Locked(State())

    init(time: any TimeSource) {
        self.time = time
    }

    /// What is simulated, in words; `nil` when nothing is.
    var words: String? {
        state.withLock { state in
            guard let fault = state.fault, state.met.count < fault.calls else { return nil }
            return fault.words(left: fault.calls - state.met.count)
        }
    }

    /// Orders a fault, in the place of the one before.
    func order(_ fault: CallFault) {
        state.withLock { $0 = State(fault: fault) }
    }

    /// Simulates nothing from now on.
    func clear() {
        state.withLock { $0 = State() }
    }

    /// What carries a request of a call to a server.
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
