import SwitchyardAPI

/// Decides which members of a group start when, and when the group has ended: a pure state machine.
///
///     ready --start--> running --verdict--> stopping --all members ended--> ended
///       \____________________ stop ____________/
///
/// ``RequestGroup`` tells it what happened and does what it says, after the lock is released. Every member is counted
/// once, every verdict is given once.
struct GroupPlan {
    private enum Phase: Equatable {
        case ready
        case running
        case stopping(GroupOutcome)
        case ended(GroupOutcome)
    }

    /// What is to be done, in this order.
    struct Effects: Equatable {
        /// The verdict is there, and nobody has been told.
        var willStop = false
        var cancel: [Int] = []
        var start: [Int] = []
        /// The group has ended; handed out once.
        var report: GroupReport?
    }

    /// Where a member was added, and what it lets start.
    typealias Addition = (index: Int, effects: Effects)

    private struct Member {
        var outcome: MemberOutcome?
        var hasStarted = false
        /// How many members it still waits for.
        var missing = 0
        /// The members that wait for it.
        var dependents: [Int] = []
    }

    private let policy: GroupPolicy
    private let limit: Int
    private var phase = Phase.ready
    private var members: [Member] = []
    /// The members that may start, in order; those before `nextReady` have been taken.
    private var ready: [Int] = []
    private var nextReady = 0
    private var running = 0
    private var ended = 0
    private var succeeded = 0

    init(policy: GroupPolicy, limit: Int?) {
        self.policy = policy
        self.limit = max(1, limit ?? .max)
    }

    /// How far the group has come.
    var progress: GroupProgress { GroupProgress(ended: ended, total: members.count) }

    /// The state as the outside sees it.
    var state: RequestState {
        switch phase {
        case .ready: .initialized
        case .running: .resumed
        case .stopping(.cancelled), .ended(.cancelled): .cancelled
        case .stopping: .resumed
        case .ended: .finished
        }
    }

    /// The report, once the group has ended.
    var report: GroupReport? {
        guard case .ended(let outcome) = phase else { return nil }
        return GroupReport(outcome: outcome, members: members.compactMap(\.outcome))
    }

    /// Adds a member behind the others; `nil` when the verdict is there.
    mutating func add() -> Addition? {
        guard phase == .ready || phase == .running else { return nil }
        members.append(Member())
        ready.append(members.count - 1)
        return (members.count - 1, phase == .running ? Effects(start: takeReady()) : Effects())
    }

    /// Lets members wait for the success of others, each named once; before the start only.
    mutating func require(_ dependencies: [(index: Int, others: [Int])]) {
        guard phase == .ready else { return }
        for (index, others) in dependencies where !others.isEmpty {
            members[index].missing = others.count
            for other in others { members[other].dependents.append(index) }
        }
        ready = ready.filter { members[$0].missing == 0 }
    }

    /// Starts; `nil` when it was started or stopped before.
    mutating func start() -> Effects? {
        guard phase == .ready else { return nil }
        phase = .running
        if let verdict = verdictOfTheStart { return stop(with: verdict) }
        return Effects(start: takeReady())
    }

    /// Counts a member that has ended.
    mutating func memberEnded(_ index: Int, _ outcome: MemberOutcome) -> Effects {
        guard members[index].outcome == nil else { return Effects() }
        members[index].outcome = outcome
        ended += 1
        if members[index].hasStarted { running -= 1 }
        if outcome.isSuccess { succeeded += 1 }
        switch phase {
        case .ready, .ended: return Effects()
        case .stopping(let verdict): return ended == members.count ? end(with: verdict) : Effects()
        case .running:
            if let verdict = verdict(after: index, outcome) { return stop(with: verdict) }
            return goOn(after: index, outcome)
        }
    }

    /// Stops with a verdict from outside; `nil` when the verdict is there.
    mutating func stop(_ verdict: GroupOutcome) -> Effects? {
        guard phase == .ready || phase == .running else { return nil }
        return stop(with: verdict)
    }
}

// MARK: - Decisions

extension GroupPlan {
    private var verdictOfTheStart: GroupOutcome? {
        if case .quorum(let count) = policy {
            if count > members.count { return .failed(member: nil) }
            if count <= 0 { return .succeeded }
        }
        for (index, member) in members.enumerated() {
            if let outcome = member.outcome, let verdict = verdict(after: index, outcome) { return verdict }
        }
        return ended == members.count ? .succeeded : nil
    }

    /// The verdict when all are to be collected and all have ended.
    private var collected: GroupOutcome {
        let failed = members.indices.filter { members[$0].outcome?.isSuccess != true }
        return failed.isEmpty ? .succeeded : .partial(failed: failed)
    }

    private func verdict(after index: Int, _ outcome: MemberOutcome) -> GroupOutcome? {
        let isLast = ended == members.count
        switch policy {
        case .collectAll: return isLast ? collected : nil
        case .failFast:
            guard outcome.isSuccess else { return .failed(member: index) }
            return isLast ? .succeeded : nil
        case .firstSuccess:
            if succeeded > 0 { return .succeeded }
            return isLast ? .failed(member: index) : nil
        case .quorum(let count):
            if succeeded >= count { return .succeeded }
            return succeeded + members.count - ended < count ? .failed(member: index) : nil
        }
    }

    private mutating func goOn(after index: Int, _ outcome: MemberOutcome) -> Effects {
        var effects = Effects()
        for dependent in members[index].dependents where members[dependent].outcome == nil {
            if outcome.isSuccess {
                members[dependent].missing -= 1
                if members[dependent].missing == 0 { ready.append(dependent) }
            } else {
                effects.cancel.append(dependent)
            }
        }
        effects.start = takeReady()
        return effects
    }

    private mutating func takeReady() -> [Int] {
        var taken: [Int] = []
        while running < limit, nextReady < ready.count {
            let index = ready[nextReady]
            nextReady += 1
            guard members[index].outcome == nil else { continue }
            members[index].hasStarted = true
            running += 1
            taken.append(index)
        }
        return taken
    }

    private mutating func stop(with verdict: GroupOutcome) -> Effects {
        if ended == members.count { return end(with: verdict, willStop: true) }
        phase = .stopping(verdict)
        return Effects(willStop: true, cancel: members.indices.filter { members[$0].outcome == nil })
    }

    private mutating func end(with verdict: GroupOutcome, willStop: Bool = false) -> Effects {
        phase = .ended(verdict)
        return Effects(willStop: willStop, report: report)
    }
}
