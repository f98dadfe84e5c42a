import SwitchyardServices

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
