import SwitchyardHTTP
import SwitchyardServices

/// The state of one flow: what has to be ended with it, and what is known of its rounds.
///
///     ready --begin--> running --rounds, one after the other--> ended
///       \_____________ cancel, deadline, at any point ____________/
struct RequestFlowState {
    /// What remains to be done when the flow has ended.
    ///
    /// Handed out once.
    struct Ending {
        var task: Task<Void, Never>?
        var failover: Failover?
        var timer: (any ScheduledTimer)?
        var passes: [LimitPass]
        /// Whether the flow had begun.
        var hasBegun: Bool
    }

    private enum Phase { case ready, running, ended }

    private var phase = Phase.ready
    private var task: Task<Void, Never>?
    private var failover: Failover?
    private var timer: (any ScheduledTimer)?
    private var passes: [LimitPass] = []
    /// How many rounds have begun.
    private(set) var rounds = 0
    /// How many of them have told how they ended.
    private var endedRounds = 0
    /// The attempts of all rounds.
    private(set) var attempts = 0
    /// Whether a round may have been executed without an answer that says so.
    private(set) var mayHaveBeenExecuted = false
    /// What became of the request in all rounds.
    private(set) var fate = RequestFate.unsent
    /// Whether the last round has carried the request out, and nobody has been told.
    private var hasUntoldEffect = false
    /// Where the last round went.
    private(set) var lastContext: RequestContext?
    /// Whether the observers were told of the end.
    private var hasToldOfEnd = false
    /// What a limit that holds the round up does when another server is preferred.
    var onSwitch: (@Sendable () -> Void)?

    var isRunning: Bool { phase == .running }
    var hasEnded: Bool { phase == .ended }
    var current: Failover? { failover }

    /// Whether the observers are to hear of an event: of none behind the end, which is the last.
    mutating func mayTell(_ event: DispatchEvent) -> Bool {
        defer { if case .ended = event.kind { hasToldOfEnd = true } }
        return !hasToldOfEnd
    }

    /// Starts the flow; `false` when it was cancelled before.
    mutating func begin() -> Bool {
        guard phase == .ready else { return false }
        phase = .running
        return true
    }

    /// Keeps what the flow runs on; `false` when it has ended, and both have to be ended.
    mutating func hold(_ task: Task<Void, Never>, _ timer: (any ScheduledTimer)?) -> Bool {
        guard phase == .running else { return false }
        self.task = task
        self.timer = timer
        return true
    }

    /// Keeps the failover of a round; `false` when the flow has ended.
    mutating func hold(_ failover: Failover) -> Bool {
        guard phase == .running else { return false }
        self.failover = failover
        rounds += 1
        return true
    }

    /// Keeps a pass until the round ends; `false` when the flow has ended and the pass goes back at once.
    mutating func hold(_ pass: LimitPass) -> Bool {
        guard phase == .running else { return false }
        passes.append(pass)
        return true
    }

    /// Takes note of the end of a round.
    ///
    /// - Parameters:
    ///   - context: Where it went.
    ///   - hasEffect: Whether its response says that the request was carried out, with an effect.
    mutating func roundEnded(_ context: RequestContext, hasEffect: Bool) {
        failover = nil
        endedRounds += 1
        hasUntoldEffect = hasEffect
        attempts += context.attempts
        // The answer of an earlier round was not the end.
        if context.mayHaveBeenExecuted || fate.mayHaveBeenExecuted { mayHaveBeenExecuted = true }
        fate = max(fate, context.fate)
        lastContext = context
    }

    /// Takes note that the flow ends before its last round has told how it ended: nobody knows what became of a request with
    /// effect.
    mutating func dropUntoldRound() {
        guard rounds > endedRounds else { return }
        (mayHaveBeenExecuted, fate) = (true, .open)
    }

    /// Takes note that the response of the last round is dropped.
    mutating func dropResponse() {
        if hasUntoldEffect { mayHaveBeenExecuted = true }
    }

    /// Hands the passes of a round out, to be given back; those that last stay.
    mutating func takePasses() -> [LimitPass] {
        defer { passes.removeAll { !$0.isLasting } }
        return passes.filter { !$0.isLasting }
    }

    /// Ends the flow; `nil` when it has ended before.
    mutating func end() -> Ending? {
        guard phase != .ended else { return nil }
        defer {
            phase = .ended
            (task, failover, timer, passes) = (nil, nil, nil, [])
        }
        return Ending(task: task, failover: failover, timer: timer, passes: passes, hasBegun: phase == .running)
    }
}
