import SwitchyardAPI
import SwitchyardServices

/// A member of a group, such as a request, a message over a socket or a computation.
///
/// It can be started, cancelled and observed.
///
/// ``APIRequest`` conforms to this protocol. Adopt it to add your own types to a ``RequestGroup`` or a
/// ``RequestGraph``.
public protocol GroupMember: AnyObject, Sendable {
    /// Starts the member. If the member was already started or has ended, nothing happens.
    ///
    /// - Returns: Whether this call started or resumed the member.
    @discardableResult
    func resume() -> Bool

    /// Cancels the member unless it has ended. A member that was never started ends too and cannot be started.
    func cancel()

    /// Calls the observer once, when the member has ended and all its handlers have been called. If the member has
    /// already ended, the observer is called soon.
    ///
    /// - Parameter observer: A closure that is called on any thread. Several observers may be added.
    func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void)
}

/// The member that currently runs, if several members run one after the other.
///
/// A cancellation cancels this member.
final class CurrentMember: Sendable {
    private struct State {
        var member: any GroupMember
        var isCancelled = false
    }

    private let state: Locked<State>

    init(_ member: any GroupMember) {
        state = Locked(State(member: member))
    }

    /// Makes a member the current member.
    ///
    /// If a cancellation has already happened, the member is cancelled.
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
