import Dispatch
import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

/// Several members, of whatever kind, that are started together and report together when all have ended.
///
///     let group = RequestGroup([topics.request([Topic].self, for: .topics), users.request(User.self, for: .me)])
///     group.onFinish { report in show(report.members) }
///     group.resume()
///
/// The report comes behind the last callback of the last member: members are counted when they have told everybody, and
/// nothing is guessed or polled. It comes exactly once, after a cancel and for an empty group too. A group under way
/// keeps itself and its members alive. Members that have ended before the start count as ended; a member that is there
/// twice is one. A group can be a member of another one, but not of itself or of one of its members: it would wait for
/// its own end.
///
/// The order is that of ``RequestAccessory``, with the members between `willStart` and `didStop`.
public final class RequestGroup: GroupMember {
    /// A look at a member's outcome before the group counts it, when members may still be added.
    typealias Step = @Sendable (MemberOutcome, RequestGroup) -> Void

    /// What is done before a group starts or is stopped, however that comes about.
    struct Prelude: Sendable {
        /// Makes the group ready; `false` when it must not start.
        var start: @Sendable (RequestGroup) -> Bool
        /// Sees to it that everybody who has to end is a member.
        var stop: @Sendable (RequestGroup) -> Void
        /// Those who are to be members, whether they are yet or not.
        var members: @Sendable () -> [any GroupMember]
    }

    struct State {
        var plan: GroupPlan
        var members: [any GroupMember] = []
        var names: Set<ObjectIdentifier> = []
        var steps: [Int: Step] = [:]
        var accessories: [any RequestAccessory] = []
        var progressHandlers: [@Sendable (GroupProgress) -> Void] = []
        var finishHandlers: [@Sendable (GroupReport) -> Void] = []
        var observers: [@Sendable (MemberOutcome) -> Void] = []
        var timer: (any ScheduledTimer)?
        /// How many members are being watched.
        var watched = 0
        var hasAnnouncedStart = false
        var hasAnnouncedStop = false
        /// Whether the handlers have been taken.
        var isOver = false
    }

    /// What accessories are told about it.
    public let subject: AccessorySubject
    let queue: DispatchQueue
    /// Held while a member that has members itself is added to any group or graph.
    static let nesting = NSLock()
    let contents: Locked<State>
    private let timeout: Duration?
    private let time: any TimeSource
    let prelude: Prelude?

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - members: The members, in order; more can be added.
    ///   - options: When it is done, and how many members are under way at once.
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

    /// Where the group stands.
    public var state: RequestState { contents.withLock { $0.plan.state } }

    /// How far the group has come.
    public var progress: GroupProgress { contents.withLock { $0.plan.progress } }

    /// What became of it; `nil` before its end.
    public var report: GroupReport? { contents.withLock { $0.plan.report } }
}

// MARK: - Starting and stopping

extension RequestGroup {
    /// Adds a member behind the others; while the group is under way it is started in its turn.
    ///
    /// - Returns: `false` when the member is there already, is this group or holds it, or it is too late.
    @discardableResult
    public func add(_ member: any GroupMember) -> Bool {
        append(member, once: true) != nil
    }

    /// Starts the members; another start is ignored.
    ///
    /// - Returns: Whether this call started it.
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

    /// Ends the group as cancelled, and its unfinished members; it reports when they have ended.
    ///
    /// A group that was not started ends too. One that has its verdict keeps it.
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

    /// Adds a member with a look at its outcome; `nil` when it is too late, or the member holds this group.
    @discardableResult
    func append(_ member: any GroupMember, once: Bool = false, step: Step? = nil) -> Int? {
        guard let nest = member as? any MemberNest else { return start(enter(member, once, step)) }
        // In one step, so that no two groups enter each other.
        return start(Self.nesting.withLock { nest.holds(self) ? nil : enter(member, once, step) })
    }

    private func enter(_ member: any GroupMember, _ once: Bool, _ step: Step?) -> GroupPlan.Addition? {
        contents.withLock { state in
            let isNew = state.names.insert(ObjectIdentifier(member)).inserted
            guard isNew || !once, let added = state.plan.add() else { return nil }
            state.members.append(member)
            state.steps[added.index] = step
            return added
        }
    }

    /// Starts what a member that was added lets start; where it stands.
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

// MARK: - On the queue

extension RequestGroup {
    /// Waits for the end of every member that nobody waits for yet.
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
        let (step, members) = contents.withLock { ($0.steps.removeValue(forKey: index), $0.members) }
        if let step {
            let owners = CallOwner.inherited + members.compactMap(\.callOwner)
            CallOwner.$inherited.withValue(owners) { step(outcome, self) }
        }
        let (effects, progress, handlers) = contents.withLock { state in
            (state.plan.memberEnded(index, outcome), state.plan.progress, state.progressHandlers)
        }
        for handler in handlers { handler(progress) }
        perform(effects)
    }

    private func perform(_ effects: GroupPlan.Effects) {
        let (members, accessories, isStopNew) = contents.withLock { state in
            // The end of the last member may come in front of the stop that was decided on before it.
            let isStopNew = !state.hasAnnouncedStop && (effects.willStop || effects.report != nil)
            if isStopNew { state.hasAnnouncedStop = true }
            return (state.members, state.hasAnnouncedStart ? state.accessories : [], isStopNew)
        }
        if isStopNew { accessories.willStop(subject) }
        for index in effects.cancel { members[index].cancel() }
        // What a member begins that makes calls of its own, it begins as whoever the group's calls belong to.
        let owners = effects.start.isEmpty ? [] : CallOwner.inherited + members.compactMap(\.callOwner)
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
    /// Adds a handler for the end; one that is added after it is called soon.
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

    /// Adds a handler that is told about every member that ends.
    @discardableResult
    public func onProgress(_ handler: @escaping @Sendable (GroupProgress) -> Void) -> RequestGroup {
        contents.withLock { if !$0.isOver { $0.progressHandlers.append(handler) } }
        return self
    }

    /// Adds an accessory; after the start it is too late.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestGroup {
        contents.withLock { if !$0.isOver { $0.accessories.append(accessory) } }
        return self
    }

    /// Calls back once when the group has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) {
        let report = contents.withLock { state -> GroupReport? in
            guard !state.isOver else { return state.plan.report }
            state.observers.append(observer)
            return nil
        }
        if let report { queue.async { observer(report.asMember) } }
    }

    /// Starts the group if need be, and waits for its end.
    ///
    /// Cancelling the task cancels the group.
    ///
    /// - Returns: What became of it.
    public func finished() async -> GroupReport {
        resume()
        return await ended()
    }

    /// Waits for the end of a group that somebody else starts; cancelling the task cancels the group.
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
    /// What the group is to one that it is a member of: one that was to collect all has done what was asked for.
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

/// A member of a group that has members of its own.
protocol MemberNest: GroupMember {
    /// Those that it waits for, at this moment.
    var nested: [any GroupMember] { get }
}

extension MemberNest {
    /// Whether a group is this, or a member at any depth.
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
