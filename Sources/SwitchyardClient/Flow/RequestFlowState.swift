import SwitchyardHTTP
import SwitchyardServices

/// The state of one flow: the work that has to end with it, and the facts about its rounds.
///
///     ready --begin--> running --rounds, one after the other--> ended
///       \_____________ cancel, deadline, at any point ____________/
struct RequestFlowState {
    /// The effects that remain after the end of the flow, returned once.
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
    /// Whether a round may have been executed although no response confirms it.
    private(set) var mayHaveBeenExecuted = false
    /// The fate of the request over all rounds.
    private(set) var fate = RequestFate.unsent
    /// Whether the last round has executed the request and this has not been reported.
    private var hasUnreportedEffect = false
    /// The context of the last round.
    private(set) var lastContext: RequestContext?
    /// Whether the end was reported to the observers.
    private var hasReportedEnd = false
    /// The action of a limit that holds the round when another server becomes the preferred one.
    var onSwitch: (@Sendable () -> Void)?

    var isRunning: Bool { phase == .running }
    var hasEnded: Bool { phase == .ended }
    var current: Failover? { failover }

    /// Whether the observers receive an event: none after the end, which is the last.
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

    /// Stores the task and the timer of the flow; returns `false` if the flow has ended and both have to end.
    mutating func hold(_ task: Task<Void, Never>, _ timer: (any ScheduledTimer)?) -> Bool {
        guard phase == .running else { return false }
        self.task = task
        self.timer = timer
        return true
    }

    /// Stores the failover of a round, and returns `false` if the flow has ended.
    mutating func hold(_ failover: Failover) -> Bool {
        guard phase == .running else { return false }
        self.failover = failover
        rounds += 1
        return true
    }

    /// Stores a limit's pass until the round ends, and returns `false` if the flow has ended, so that the caller
    /// returns the pass at once.
    mutating func hold(_ pass: LimitPass) -> Bool {
        guard phase == .running else { return false }
        passes.append(pass)
        return true
    }

    /// Records the end of a round.
    ///
    /// - Parameters:
    ///   - context: The context of the round.
    ///   - hasEffect: Whether its response reports that the request was executed with an effect.
    mutating func roundEnded(_ context: RequestContext, hasEffect: Bool) {
        failover = nil
        endedRounds += 1
        hasUnreportedEffect = hasEffect
        attempts += context.attempts
        // The response of an earlier round was not the end.
        if context.mayHaveBeenExecuted || fate.mayHaveBeenExecuted { mayHaveBeenExecuted = true }
        fate = max(fate, context.fate)
        lastContext = context
    }

    /// Records that the flow ends before its last round has reported its end, so that the fate of a request with effect
    /// is unknown.
    mutating func dropUntoldRound() {
        guard rounds > endedRounds else { return }
        (mayHaveBeenExecuted, fate) = (true, .open)
    }

    /// Records that the response of the last round is dropped.
    mutating func dropResponse() {
        if hasUnreportedEffect { mayHaveBeenExecuted = true }
    }

    /// Returns the passes of a round, to be given back; lasting ones stay.
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
