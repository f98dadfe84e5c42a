import SwitchyardAPI
import SwitchyardServices

/// Something that can be started, cancelled and waited for together with others: a request, a message over a socket, a
/// computation.
///
/// ``APIRequest`` is one. Adopt it to put your own things into a ``RequestGroup``, a ``RequestChain`` or a
/// ``RequestGraph``.
public protocol GroupMember: AnyObject, Sendable {
    /// Starts it; does nothing when it was started before or has ended.
    ///
    /// - Returns: Whether this call made it go on.
    @discardableResult
    func resume() -> Bool

    /// Ends it unless it has ended; one that was never started ends too, and will not start.
    func cancel()

    /// Calls back once when it has ended and everybody else has been told; soon, if it has ended already.
    ///
    /// - Parameter observer: Called on any thread. Several may be added.
    func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void)
}

/// The one of several members, one after the other, that a cancel concerns.
final class CurrentMember: Sendable {
    private struct State {
        var member: any GroupMember
        var isCancelled = false
    }

    private let state: Locked<State>

    init(_ member: any GroupMember) {
        state = Locked(State(member: member))
    }

    /// Lets another take the place; one that comes after a cancel is cancelled.
    func replace(with member: any GroupMember) {
        let isCancelled = state.withLock { state in
            state.member = member
            return state.isCancelled
        }
        if isCancelled { member.cancel() }
    }

    func cancel() {
        let member = state.withLock { state in
            state.isCancelled = true
            return state.member
        }
        member.cancel()
    }
}
