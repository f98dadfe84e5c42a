import SwitchyardAPI
import SwitchyardServices

/// A member of a group, which can be started, cancelled and observed, such as a request, a message over a socket or a
/// computation.
///
/// ``APIRequest`` conforms to this protocol. Adopt it to add your own types to a ``RequestGroup`` or a
/// ``RequestGraph``.
public protocol GroupMember: AnyObject, Sendable {
    /// Starts the member; does nothing if it was started before or has ended.
    ///
    /// - Returns: Whether this call started or resumed the member.
    @discardableResult
    func resume() -> Bool

    /// Cancels the member unless it has ended; a member that was never started ends too and will not start.
    func cancel()

    /// Calls the observer once, when the member has ended and all its handlers have been called, or soon if it has
    /// already ended.
    ///
    /// - Parameter observer: Called on any thread. Several observers may be added.
    func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void)
}

/// The current one of several members that run one after the other, to which a cancellation applies.
final class CurrentMember: Sendable {
    private struct State {
        var member: any GroupMember
        var isCancelled = false
    }

    private let state: Locked<State>

    init(_ member: any GroupMember) {
        state = Locked(State(member: member))
    }

    /// Replaces the current member; if there was a cancellation, the new member is cancelled.
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
