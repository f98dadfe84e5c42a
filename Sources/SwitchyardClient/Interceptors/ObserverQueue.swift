import Dispatch
import SwitchyardServices

/// Hands events to observers one after the other, on a queue of its own: an observer that is slow, or never returns,
/// delays other observers and no request.
///
/// Events that find ``limit`` others waiting are dropped, so that an observer that hangs costs bounded memory.
final class ObserverQueue: Sendable {
    /// The most events that wait.
    static let limit = 65_536

    private let queue = DispatchQueue(label: "switchyard.observers")
    private let waiting = Locked(0)

    func send(_ event: DispatchEvent, to observers: [RequestInterceptor.Observe]) {
        let isAccepted = waiting.withLock { waiting in
            guard waiting < Self.limit else { return false }
            waiting += 1
            return true
        }
        guard isAccepted else { return }
        queue.async { [self] in
            for observe in observers { observe(event) }
            waiting.withLock { $0 -= 1 }
        }
    }
}
