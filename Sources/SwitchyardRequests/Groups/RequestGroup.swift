import Dispatch
import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

/// A group of members of any kind.
///
/// The members are started together, and their outcomes are reported when all members have ended.
///
///     let group = RequestGroup([topics.request([Topic].self, for: .topics), users.request(User.self, for: .me)])
///     group.onFinish { report in show(report.members) }
///     group.resume()
///
/// A member counts as ended only when all its handlers have been called, so the report comes after the last callback of
/// the last member. The report comes exactly once, even after a cancellation and for an empty group. A running group
/// retains itself and its members. Members that ended before the start count as ended, and a member that is added twice
/// counts once. A group can be a member of another group. It cannot be a member of itself or of one of its members,
/// because the group would then wait for its own end.
///
/// ``RequestAccessory`` describes the order of the callbacks. The members run between `willStart` and `didStop`.
public final class RequestGroup: GroupMember {
    /// A closure that receives a member's outcome before the group counts the member as ended.
    ///
    /// The closure may still add members to the group.
    typealias Step = @Sendable (MemberOutcome, RequestGroup) -> Void

    /// Closures that run before a group starts or stops.
    ///
    /// ``RequestGraph`` uses them to add its nodes.
    struct Prelude: Sendable {
        /// Prepares the group, and returns `false` if it must not start.
        var start: @Sendable (RequestGroup) -> Bool
        /// Adds all pending members to the group, so that they end with the group.
        var stop: @Sendable (RequestGroup) -> Void
        /// Returns all members that the group has or will have.
        var members: @Sendable () -> [any GroupMember]
    }

    struct State {
        var plan: GroupPlan
        var members: [any GroupMember] = []
        /// The users and environments of the members' calls.
        var owners: [CallOwner] = []
        var names: Set<ObjectIdentifier> = []
        var steps: [Int: Step] = [:]
        var accessories: [any RequestAccessory] = []
        var progressHandlers: [@Sendable (GroupProgress) -> Void] = []
        var finishHandlers: [@Sendable (GroupReport) -> Void] = []
        var observers: [@Sendable (MemberOutcome) -> Void] = []
        var timer: (any ScheduledTimer)?
        /// The number of members whose end the group observes.
        var watched = 0
        var hasAnnouncedStart = false
        var hasAnnouncedStop = false
        /// Whether the group has ended and its handlers have been taken out of the state to be called.
        var isOver = false

        /// The users and environments for the calls that a member makes when it starts, and for the calls that a
        /// ``Step`` makes.
        var inheritedOwners: [CallOwner] {
            let inherited = CallOwner.inherited
            return inherited.isEmpty ? owners : inherited + owners
        }
    }

    /// The description of the group that its observers (``RequestAccessory``) receive.
    public let subject: AccessorySubject
    let queue: DispatchQueue
    /// The lock that is held while a group, batch, chain or graph is added as a member to a group or graph.
    static let nesting = NSLock()
    let contents: Locked<State>
    private let timeout: Duration?
    private let time: any TimeSource
    let prelude: Prelude?

    /// Creates a group without starting it.
    ///
    /// - Parameters:
    ///   - members: The members, in order. More members can be added later.
    ///   - options: The policy, the maximum number of concurrent members, and other options.
    public convenience init(
        _ members: [any GroupMember] = [],
        options: GroupOptions = GroupOptions(policy: .collectAll)
    ) {
        self.init(kind: .group, options: options)
        for member in members { add(member) }
    }

    init(kind: AccessorySubject.Kind, options: GroupOptions, prelude: Prelude? = nil) {
        self.prelude = prelude
        subject = AccessorySubject(kind: kind, id: RequestID(), tags: options.tags)
        queue = DispatchQueue(label: "switchyard.group", target: options.queue)
        timeout = options.timeout
        time = options.time
        contents = Locked(State(plan: GroupPlan(policy: options.policy, limit: options.limit)))
    }

    /// The members, in order.
    public var members: [any GroupMember] { contents.withLock { $0.members } }

    /// The state of the group.
    public var state: RequestState { contents.withLock { $0.plan.state } }

    /// The number of members that have ended, and the number of all members.
    public var progress: GroupProgress { contents.withLock { $0.plan.progress } }

    /// The report, or `nil` until the group has ended.
    public var report: GroupReport? { contents.withLock { $0.plan.report } }
}

// MARK: - Start and stop

extension RequestGroup {
    /// Adds a member at the end.
    ///
    /// If the group is running, the member starts as soon as the group's limit allows.
    ///
    /// - Returns: `false` if the member was already added, if the member is or contains this group, or if the group's
    ///   outcome is already decided.
    @discardableResult
    public func add(_ member: any GroupMember) -> Bool {
        append(member, once: true) != nil
    }

    /// Starts the members.
    ///
    /// A second call is ignored.
    ///
    /// - Returns: Whether this call started the group.
    @discardableResult
    public func resume() -> Bool {
        if let prelude, state == .initialized, !prelude.start(self) { return false }
        guard let effects = contents.withLock({ $0.plan.start() }) else { return false }
        queue.async { [self] in
            let accessories = contents.withLock { state in
                state.hasAnnouncedStart = true
                return state.accessories
            }
            accessories.willStart(subject)
            setTimer()
            watchMembers()
            perform(effects)
        }
        return true
    }

    /// Ends the group as cancelled and cancels its unfinished members.
    ///
    /// The report comes when these members have ended.
    ///
    /// A group that was not started ends too. An outcome that is already decided does not change.
    public func cancel() {
        stop(.cancelled)
    }

    func stop(_ outcome: GroupOutcome) {
        prelude?.stop(self)
        guard let effects = contents.withLock({ $0.plan.stop(outcome) }) else { return }
        queue.async { [self] in
            watchMembers()
            perform(effects)
        }
    }

    /// Adds a member, with a ``Step`` that runs when the member ends.
    ///
    /// Returns `nil` if the outcome is already decided or the member contains this group.
    @discardableResult
    func append(_ member: any GroupMember, once: Bool = false, step: Step? = nil) -> Int? {
        guard let nest = member as? any MemberNest else { return start(enter(member, once, step)) }
        // The lock covers both the check and the insertion, so that two groups cannot become members of each other.
        return start(Self.nesting.withLock { nest.holds(self) ? nil : enter(member, once, step) })
    }

    private func enter(_ member: any GroupMember, _ once: Bool, _ step: Step?) -> GroupPlan.Addition? {
        contents.withLock { state in
            let isNew = state.names.insert(ObjectIdentifier(member)).inserted
            guard isNew || !once, let added = state.plan.add() else { return nil }
            state.members.append(member)
            if let owner = member.callOwner { state.owners.append(owner) }
            state.steps[added.index] = step
            return added
        }
    }

    /// Starts the members that can run after the addition, and returns the position of the added member.
    private func start(_ added: GroupPlan.Addition?) -> Int? {
        guard let added else { return nil }
        if state == .resumed {
            queue.async { [self] in
                watchMembers()
                perform(added.effects)
            }
        }
        return added.index
    }

    private func setTimer() {
        guard let timeout else { return }
        let timer = time.schedule(at: time.now.advanced(by: timeout)) { [weak self] in self?.stop(.timedOut) }
        let isLate = contents.withLock { state in
            state.timer = timer
            return state.isOver
        }
        if isLate { timer.cancel() }
    }
}

// MARK: - Work on the group's queue

extension RequestGroup {
    /// Starts to observe the end of members that were added since the last call.
    private func watchMembers() {
        let (first, members) = contents.withLock { state in
            defer { state.watched = state.members.count }
            return (state.watched, Array(state.members[state.watched...]))
        }
        for (offset, member) in members.enumerated() {
            member.whenEnded { [self] outcome in
                queue.async { self.memberEnded(first + offset, outcome) }
            }
        }
    }

    private func memberEnded(_ index: Int, _ outcome: MemberOutcome) {
        let (step, owners) = contents.withLock { ($0.steps.removeValue(forKey: index), $0.inheritedOwners) }
        if let step { CallOwner.$inherited.withValue(owners) { step(outcome, self) } }
        let (effects, progress, handlers) = contents.withLock { state in
            (state.plan.memberEnded(index, outcome), state.plan.progress, state.progressHandlers)
        }
        for handler in handlers { handler(progress) }
        perform(effects)
    }

    private func perform(_ effects: GroupPlan.Effects) {
        let (members, owners, accessories, isStopNew) = contents.withLock { state in
            // Another thread may have decided the outcome without having called `willStop` yet. If the last member
            // ends now, `willStop` is called here, and not again by that thread.
            let isStopNew = !state.hasAnnouncedStop && (effects.willStop || effects.report != nil)
            if isStopNew { state.hasAnnouncedStop = true }
            let accessories = state.hasAnnouncedStart ? state.accessories : []
            return (state.members, state.inheritedOwners, accessories, isStopNew)
        }
        if isStopNew { accessories.willStop(subject) }
        for index in effects.cancel { members[index].cancel() }
        CallOwner.$inherited.withValue(owners) {
            for index in effects.start { members[index].resume() }
        }
        guard let report = effects.report else { return }
        let over = contents.withLock { state in
            defer {
                state.isOver = true
                state.timer = nil
                state.steps = [:]
                state.accessories = []
                state.progressHandlers = []
                state.finishHandlers = []
                state.observers = []
            }
            return state
        }
        over.timer?.cancel()
        for handler in over.finishHandlers { handler(report) }
        accessories.didStop(subject)
        for observer in over.observers { observer(report.asMember) }
    }
}

extension RequestGroup {
    /// Adds a handler for the end of the group.
    ///
    /// If the group has already ended, the handler is called soon.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (GroupReport) -> Void) -> RequestGroup {
        let report = contents.withLock { state -> GroupReport? in
            guard !state.isOver else { return state.plan.report }
            state.finishHandlers.append(handler)
            return nil
        }
        if let report { queue.async { handler(report) } }
        return self
    }

    /// Adds a handler that is called with the progress each time a member ends.
    @discardableResult
    public func onProgress(_ handler: @escaping @Sendable (GroupProgress) -> Void) -> RequestGroup {
        contents.withLock { if !$0.isOver { $0.progressHandlers.append(handler) } }
        return self
    }

    /// Adds an observer (``RequestAccessory``) of the group.
    ///
    /// The observer must be added before the start.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestGroup {
        contents.withLock { if !$0.isOver { $0.accessories.append(accessory) } }
        return self
    }

    /// Calls the observer once, when the group has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) {
        let report = contents.withLock { state -> GroupReport? in
            guard !state.isOver else { return state.plan.report }
            state.observers.append(observer)
            return nil
        }
        if let report { queue.async { observer(report.asMember) } }
    }

    /// Starts the group if necessary, and waits until it has ended.
    ///
    /// Cancelling the task cancels the group.
    ///
    /// - Returns: The report.
    public func finished() async -> GroupReport {
        resume()
        return await ended()
    }

    /// Waits until the group has ended, without starting it.
    ///
    /// Cancelling the task cancels the group.
    func ended() async -> GroupReport {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<GroupReport, Never>) in
                _ = onFinish { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel()
        }
    }
}

extension GroupReport {
    /// The outcome of the group as a member of another group.
    ///
    /// A partial success counts as success.
    var asMember: MemberOutcome {
        switch outcome {
        case .succeeded, .partial: .succeeded
        case .cancelled: .cancelled
        case .timedOut: .failed(.limited(.deadline))
        case .failed:
            if case .failed(let reason) = failure {
                .failed(reason)
            } else {
                .failed(.configuration(.other("the group could not succeed")))
            }
        }
    }
}

/// A group member that has members itself.
protocol MemberNest: GroupMember {
    /// The members that this member currently waits for.
    var nested: [any GroupMember] { get }
}

extension MemberNest {
    /// Returns whether the group is this member, or one of its members at any depth.
    func holds(_ group: RequestGroup) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var rest: [any MemberNest] = [self]
        while let next = rest.popLast() {
            if next === group { return true }
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            rest += next.nested.compactMap { $0 as? any MemberNest }
        }
        return false
    }
}

extension RequestGroup: MemberNest {
    var nested: [any GroupMember] { members + (prelude?.members() ?? []) }
}

extension RequestBatch: MemberNest {
    var nested: [any GroupMember] { [group] }
}

extension RequestChain: MemberNest {
    var nested: [any GroupMember] { [group] }
}

extension RequestGraph: MemberNest {
    var nested: [any GroupMember] { [group] }
}
