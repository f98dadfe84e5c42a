import SwitchyardHTTP
import SwitchyardServices

/// The state of one ``RequestFlow``: the work to stop when the flow ends, and the results of its rounds.
///
/// A round is one try at the request with its failovers and hedges. Each retry starts another round.
///
///     ready --begin--> running --rounds, one after the other--> ended
///       \_____________ cancel, deadline, at any point ____________/
struct RequestFlowState {
    /// The work to stop and the passes to release after the flow has ended, returned once.
    struct Ending {
        var task: Task<Void, Never>?
        var failover: Failover?
        var timer: (any ScheduledTimer)?
        var passes: [LimitPass]
        /// Whether the flow had started.
        var hasBegun: Bool
    }

    private enum Phase { case ready, running, ended }

    private var phase = Phase.ready
    private var task: Task<Void, Never>?
    private var failover: Failover?
    private var timer: (any ScheduledTimer)?
    private var passes: [LimitPass] = []
    /// The number of rounds that have started.
    private(set) var rounds = 0
    /// The number of rounds that have reported their end.
    private var endedRounds = 0
    /// The number of attempts in all rounds.
    private(set) var attempts = 0
    /// Whether a server may have executed the request of a round although no response confirms it.
    private(set) var mayHaveBeenExecuted = false
    /// The fate of the request in all rounds: whether a server may have executed it.
    private(set) var fate = RequestFate.unsent
    /// Whether the response of the last round confirms that the request was executed, and that response has not been
    /// passed to the caller.
    private var hasUnreportedEffect = false
    /// The attempts of all rounds, in order.
    private(set) var history = AttemptHistory.none
    /// The context of the last round.
    private(set) var lastContext: RequestContext?
    /// Whether observers have been notified of the end.
    private var hasReportedEnd = false
    /// The action to run when another server becomes the preferred server while a limit makes the round wait.
    var onSwitch: (@Sendable () -> Void)?

    var isRunning: Bool { phase == .running }
    var hasEnded: Bool { phase == .ended }
    var current: Failover? { failover }

    /// Whether observers are notified of an event.
    ///
    /// The event ``DispatchEvent/Kind/ended(_:)`` is always the last event.
    mutating func mayTell(_ event: DispatchEvent) -> Bool {
        defer { if case .ended = event.kind { hasReportedEnd = true } }
        return !hasReportedEnd
    }

    /// Starts the flow, and returns `false` if it has already been cancelled.
    mutating func begin() -> Bool {
        guard phase == .ready else { return false }
        phase = .running
        return true
    }

    /// Stores the task and the timer of the flow.
    ///
    /// Returns `false` if the flow has ended, so that the caller cancels both.
    mutating func hold(_ task: Task<Void, Never>, _ timer: (any ScheduledTimer)?) -> Bool {
        guard phase == .running else { return false }
        self.task = task
        self.timer = timer
        return true
    }

    /// Stores the failover that runs a round, and returns `false` if the flow has ended.
    mutating func hold(_ failover: Failover) -> Bool {
        guard phase == .running else { return false }
        self.failover = failover
        rounds += 1
        return true
    }

    /// Stores the pass of a limit until the round ends.
    ///
    /// Returns `false` if the flow has ended, so that the caller releases the pass immediately.
    mutating func hold(_ pass: LimitPass) -> Bool {
        guard phase == .running else { return false }
        passes.append(pass)
        return true
    }

    /// Records the end of a round.
    ///
    /// - Parameters:
    ///   - context: The context of the round.
    ///   - hasEffect: Whether the response of the round confirms that the request was executed.
    mutating func roundEnded(_ context: RequestContext, hasEffect: Bool) {
        failover = nil
        endedRounds += 1
        hasUnreportedEffect = hasEffect
        attempts += context.attempts
        history.append(context.history)
        // If a server may have executed the request in an earlier round, the response of this round does not change
        // that.
        if context.mayHaveBeenExecuted || fate.mayHaveBeenExecuted { mayHaveBeenExecuted = true }
        fate = max(fate, context.fate)
        lastContext = context
    }

    /// Records that a server may have executed the request, because the flow ends during a round.
    mutating func dropUntoldRound() {
        guard rounds > endedRounds else { return }
        (mayHaveBeenExecuted, fate) = (true, .open)
    }

    /// Records that the caller does not get the response of the last round.
    mutating func dropResponse() {
        if hasUnreportedEffect { mayHaveBeenExecuted = true }
    }

    /// Removes and returns the passes to release at the end of a round.
    ///
    /// Passes that last until the end of the flow stay.
    mutating func takePasses() -> [LimitPass] {
        defer { passes.removeAll { !$0.isLasting } }
        return passes.filter { !$0.isLasting }
    }

    /// Ends the flow and returns the remaining work, or `nil` if the flow has already ended.
    mutating func end() -> Ending? {
        guard phase != .ended else { return nil }
        defer {
            phase = .ended
            (task, failover, timer, passes) = (nil, nil, nil, [])
        }
        return Ending(task: task, failover: failover, timer: timer, passes: passes, hasBegun: phase == .running)
    }
}
