import SwitchyardAPI

/// A pure state machine that decides when the members of a group start, and when the group ends.
///
///     ready --start--> running --verdict--> stopping --all members ended--> ended
///       \____________________ stop ____________/
///
/// The verdict is the outcome of the group, decided by its policy, by a cancellation or by the timeout.
/// ``RequestGroup`` reports each event and carries out the returned effects after it has released its lock. Every
/// member is counted once, and the outcome of the group is returned once.
struct GroupPlan {
    private enum Phase: Equatable {
        case ready
        case running
        case stopping(GroupOutcome)
        case ended(GroupOutcome)
    }

    /// The effects that ``RequestGroup`` must carry out, in the order of the properties.
    struct Effects: Equatable {
        /// Whether the event that caused these effects has decided the outcome of the group.
        ///
        /// If so, the observers' `willStop` must be called.
        var willStop = false
        var cancel: [Int] = []
        var start: [Int] = []
        /// The report of a group that has ended, returned once.
        var report: GroupReport?
    }

    /// The position of a member that was added, and the effects of the addition.
    typealias Addition = (index: Int, effects: Effects)

    private struct Member {
        var outcome: MemberOutcome?
        var hasStarted = false
        /// The number of dependencies of this member that have not succeeded yet.
        var missing = 0
        /// The positions of the members that depend on this member.
        var dependents: [Int] = []
    }

    private let policy: GroupPolicy
    private let limit: Int
    private var phase = Phase.ready
    private var members: [Member] = []
    /// The positions of the members that may start, in order.
    ///
    /// The members before `nextReady` have been started.
    private var ready: [Int] = []
    private var nextReady = 0
    private var running = 0
    private var ended = 0
    private var succeeded = 0

    init(policy: GroupPolicy, limit: Int?) {
        self.policy = policy
        self.limit = max(1, limit ?? .max)
    }

    var progress: GroupProgress { GroupProgress(ended: ended, total: members.count) }

    /// The public state of the group.
    var state: RequestState {
        switch phase {
        case .ready: .initialized
        case .running: .resumed
        case .stopping(.cancelled), .ended(.cancelled): .cancelled
        case .stopping: .resumed
        case .ended: .finished
        }
    }

    /// The report, or `nil` until the group has ended.
    var report: GroupReport? {
        guard case .ended(let outcome) = phase else { return nil }
        return GroupReport(outcome: outcome, members: members.compactMap(\.outcome))
    }

    /// Appends a member, or returns `nil` if the outcome of the group is already decided.
    mutating func add() -> Addition? {
        guard phase == .ready || phase == .running else { return nil }
        members.append(Member())
        ready.append(members.count - 1)
        return (members.count - 1, phase == .running ? Effects(start: takeReady()) : Effects())
    }

    /// Sets the dependencies of members.
    ///
    /// The call has no effect after the start.
    ///
    /// Each dependent member is listed once, as `index`, with its dependencies as `others`.
    mutating func require(_ dependencies: [(index: Int, others: [Int])]) {
        guard phase == .ready else { return }
        for (index, others) in dependencies where !others.isEmpty {
            members[index].missing = others.count
            for other in others { members[other].dependents.append(index) }
        }
        ready = ready.filter { members[$0].missing == 0 }
    }

    /// Starts the group, or returns `nil` if it was already started or stopped.
    mutating func start() -> Effects? {
        guard phase == .ready else { return nil }
        phase = .running
        if let verdict = verdictOfTheStart { return stop(with: verdict) }
        return Effects(start: takeReady())
    }

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

    /// Stops the group because of a cancellation or a timeout, or returns `nil` if the outcome of the group is already
    /// decided.
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

    /// The outcome of a group with the policy ``GroupPolicy/collectAll`` after all members have ended.
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
