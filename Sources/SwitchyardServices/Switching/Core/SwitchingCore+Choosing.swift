extension SwitchingCore {
    /// Chooses the server of a request's first attempt.
    ///
    /// A healthy server if there is one, by the policy's selection; else one in trial with a free place; else the one
    /// that is least bad. There is never "no server", as long as one is left that was not tried.
    ///
    /// - Parameters:
    ///   - tried: The servers that are out of the question.
    ///   - traits: What the choice may depend on.
    ///   - now: The time.
    /// - Returns: The attempt, which has to be settled; `nil` only if every server was tried.
    public mutating func choose(
        excluding tried: ServerSet = [],
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime
    ) -> Attempt? {
        let time = read(now)
        if traits.mayBeRepeated { repeatableAt = time }
        guard let choice = pick(excluding: tried, for: traits, at: time) else { return nil }
        concurrency.begin()
        return attempt(choice, .first, for: traits, at: now)
    }

    /// Whether a request should be given up at once because every healthy server is overloaded.
    ///
    /// Which priorities are, ``AdmissionRules/sheds`` says. Low priority is given up then, normal priority with the
    /// probability that no server's share admits it, at most ``AdmissionRules/mostShed``, high never. A single server is
    /// asked whatever it does.
    ///
    /// - Parameters:
    ///   - priority: The request's priority.
    ///   - now: The time.
    /// - Returns: Whether to give it up.
    public mutating func sheds(_ priority: RequestTraits.Priority, at now: MonotonicTime) -> Bool {
        let time = read(now)
        guard let admission = rules.policy.admission, let highest = admission.sheds, priority <= highest,
            priority != .high, members.count > 1
        else { return false }
        var unadmitted = 1.0
        var isOverloaded = false
        for server in health where server.state == .healthy {
            let share = server.admission.present(at: time, rules)
            guard share < 1 else { return false }
            unadmitted *= 1 - share
            if server.admission.isOverloaded(at: time, rules) { isOverloaded = true }
        }
        guard isOverloaded else { return false }
        return priority == .low || random.unit() < min(unadmitted, admission.mostShed)
    }

    /// Takes an attempt on another server after a failure, or after the server was ejected.
    ///
    /// - Parameters:
    ///   - kind: How the attempt before failed; `nil` when it was moved away.
    ///   - tried: The servers that were tried.
    ///   - avoided: Servers to be asked only when no other is left; they are no attempts of the request.
    ///   - traits: What the choice may depend on.
    ///   - isPaidFor: Whether the request has taken a token (``Attempt/isPaid``): without another one it may go on, unless
    ///     that would be after overload.
    ///   - now: The time.
    /// - Returns: The attempt, which has to be settled; `nil` when the policy forbids it, the budget is empty, or no
    ///   server is left that can take it.
    public mutating func takeFailover(
        after kind: FailureKind?,
        excluding tried: ServerSet,
        avoiding avoided: ServerSet = [],
        for traits: RequestTraits = RequestTraits(),
        isPaidFor: Bool = false,
        at now: MonotonicTime
    ) -> Attempt? {
        let time = read(now)
        let budgets = rules.policy.budgets
        guard rules.policy.failsOver, allowsAnother(tried) else { return nil }
        failovers.refill(to: time, capacity: failoverCapacity, longest: budgets.longestRefill.inSeconds)
        let isFree = isFree(after: kind)
        guard isFree || failovers.tokens >= 1 || (isPaidFor && goesOn(after: kind)),
            isOfUse(after: kind, of: traits.endpoint, isPaidFor: isPaidFor, claims: false, at: time),
            let choice = pickFailover(excluding: tried.union(avoided), for: traits, isFree: isFree, at: time)
                ?? (avoided.isEmpty ? nil : pickFailover(excluding: tried, for: traits, isFree: isFree, at: time))
        else { return nil }
        if !isFree {
            _ = failovers.take(1)  // Or none, if there is none.
            paidFailovers.begin(at: time)
        }
        _ = isOfUse(after: kind, of: traits.endpoint, isPaidFor: isPaidFor, claims: true, at: time)
        return attempt(
            choice,
            .failover,
            for: traits,
            at: now,
            followsOverload: kind?.isOverload == true,
            isFree: isFree
        )
    }

    /// Whether another server may be asked after a failure of an endpoint: not while every server fails it alike.
    ///
    /// A request that has gone on to a second server goes on to the others too.
    mutating func isOfUse(
        after kind: FailureKind?,
        of endpoint: UInt32,
        isPaidFor: Bool,
        claims: Bool,
        at time: Double
    ) -> Bool {
        guard judgesEndpoints, !isPaidFor, let kind, !kind.isWithoutWork else { return true }
        return endpoints.allowsFailover(endpoint, after: kind, claims: claims, at: time)
    }

    /// Whether another server could be asked after a failure, as far as policy, budget and list allow it.
    ///
    /// - Parameters:
    ///   - tried: The servers that will have been tried by then.
    ///   - now: The time.
    /// - Returns: Whether it could.
    package mutating func couldFailOver(excluding tried: ServerSet, at now: MonotonicTime) -> Bool {
        let time = read(now)
        let budgets = rules.policy.budgets
        failovers.refill(to: time, capacity: failoverCapacity, longest: budgets.longestRefill.inSeconds)
        return rules.policy.failsOver && allowsAnother(tried) && tried.count < members.count && failovers.tokens >= 1
    }

    // MARK: - Picking

    struct Choice {
        var position: Int
        var holdsTrialPlace = false
    }

    func allowsAnother(_ tried: ServerSet) -> Bool {
        tried.count < rules.policy.maximumAttempts
    }

    mutating func attempt(
        _ choice: Choice,
        _ role: Attempt.Role,
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime,
        followsOverload: Bool = false,
        isFree: Bool = false
    ) -> Attempt {
        Attempt(
            server: choice.position,
            generation: health[choice.position].generation,
            role: role,
            endpoint: traits.endpoint,
            timely: health[choice.position].lateness.timely,
            startedAt: now,
            holdsTrialPlace: choice.holdsTrialPlace,
            followsOverload: followsOverload,
            isFree: isFree
        )
    }

    mutating func pick(excluding tried: ServerSet, for traits: RequestTraits, at time: Double) -> Choice? {
        if let forced = steering?.forced, !tried.contains(forced) { return Choice(position: forced) }
        if usesOrder(traits) {
            for position in order where !tried.contains(Int(position)) {
                if let choice = admit(Int(position), for: traits, at: time) { return choice }
            }
        } else if let choice = pickByRank(excluding: tried, for: traits, at: time) {
            return choice
        }
        return leastBad(excluding: tried).map { Choice(position: $0) }
    }

    /// Picks for an attempt after a failure; one that no server has had any work with goes to a server that is overloaded
    /// too, when there is no other.
    private mutating func pickFailover(
        excluding tried: ServerSet,
        for traits: RequestTraits,
        isFree: Bool,
        at time: Double
    ) -> Choice? {
        pickExtra(excluding: tried, for: traits, at: time)
            ?? (isFree ? pick(excluding: tried, for: traits, at: time) : nil)
    }

    /// Picks for an attempt that is an extra: servers that showed overload lately are spared, but not the preferred one,
    /// which would have had the request first.
    mutating func pickExtra(excluding tried: ServerSet, for traits: RequestTraits, at time: Double) -> Choice? {
        var passed = tried
        while let choice = pick(excluding: passed, for: traits, at: time) {
            let isPreferred = choice.position == Int(currentPosition)
            if rules.policy.admission == nil || isPreferred
                || health[choice.position].admission.isClean(at: time, rules)
            {
                return choice
            }
            if choice.holdsTrialPlace { health[choice.position].trialPlaces -= 1 }
            passed.insert(choice.position)
        }
        return nil
    }

    /// Lets a server take one more attempt, if its state allows it.
    mutating func admit(_ position: Int, for traits: RequestTraits, at time: Double) -> Choice? {
        switch health[position].state {
        case .ejected:
            return nil
        case .trial:
            let server = health[position]
            guard time >= server.dueAt, server.trialPlaces < max(1, server.trialSuccesses) else { return nil }
            // What can be repeated tries the server first; without any of that, the others have to.
            guard traits.mayBeRepeated || time - repeatableAt > Self.trialPatience else { return nil }
            health[position].trialPlaces += 1
            return Choice(position: position, holdsTrialPlace: true)
        case .healthy:
            guard time >= health[position].admission.notBefore else { return nil }
            let share = health[position].admission.present(at: time, rules)
            return share >= 1 || random.unit() < share ? Choice(position: position) : nil
        }
    }

    /// How many seconds after a request that may be repeated those that may not are kept from servers on trial.
    private static var trialPatience: Double { 5 }

    /// The server to use when none is usable: healthy ones by share, then by the time of the next probe.
    private func leastBad(excluding tried: ServerSet) -> Int? {
        var best: (position: Int, isDown: Bool, badness: Double)?
        for position in order.lazy.map({ Int($0) }) where !tried.contains(position) {
            let server = health[position]
            let isDown = server.state != .healthy
            let badness = isDown ? server.dueAt : -server.admission.share
            if let best, (best.isDown, best.badness) <= (isDown, badness) { continue }
            best = (position, isDown, badness)
        }
        return best?.position
    }
}

private func <= (left: (Bool, Double), right: (Bool, Double)) -> Bool {
    left.0 == right.0 ? left.1 <= right.1 : !left.0
}

/// A pushed command that holds.
struct Steering: Sendable {
    var command: PushCommand
    /// When it ends.
    var until: Double
    /// The server that gets everything.
    var forced: Int?
}

/// A pushed command that waits for its time.
struct PendingPush: Sendable {
    var command: PushCommand
    var dueAt: Double
}

extension SwitchingCore {
    /// Prefers a server from now on, with a fresh start for it; the others follow in the list's order.
    ///
    /// The fresh start takes back what was cut of its traffic, and the time for which it asked to be left alone.
    /// Health still rules: if the server fails, the next one takes over. A pushed command that holds is ended.
    ///
    /// - Parameters:
    ///   - id: The server.
    ///   - version: The ``version`` that the decision was based on; if another trigger has switched since, nothing
    ///     happens. `nil` switches in any case.
    ///   - now: The time.
    /// - Returns: What followed; empty if nothing did.
    /// - Throws: ``SwitchError/unknownServer(_:known:)``, and then nothing has changed.
    public mutating func switchTo(
        _ id: Server.ID,
        from version: UInt64? = nil,
        at now: MonotonicTime
    ) throws(SwitchError) -> [SwitchEvent] {
        let position = try position(of: id)
        let time = read(now)
        guard version == nil || version == self.version else { return takeEvents() }
        steering = nil
        prefer(position, isFresh: true, .requested, at: time)
        return takeEvents()
    }

    /// Switches to the server that follows the current one in the list, round the end.
    ///
    /// A server that is ejected is passed over, as long as another one is healthy.
    ///
    /// - Parameters:
    ///   - version: See ``switchTo(_:from:at:)``.
    ///   - now: The time.
    /// - Returns: What followed; empty if nothing did, as with a single server.
    public mutating func next(from version: UInt64? = nil, at now: MonotonicTime) -> [SwitchEvent] {
        let time = read(now)
        guard version == nil || version == self.version else { return takeEvents() }
        let start = Int(currentPosition)
        let ring = (1..<members.count).map { (start + $0) % members.count }
        guard let target = ring.first(where: { health[$0].state == .healthy }) ?? ring.first else {
            return takeEvents()
        }
        steering = nil
        prefer(target, isFresh: true, .requested, at: time)
        return takeEvents()
    }

    /// Takes a command that was pushed from outside.
    ///
    /// - Parameters:
    ///   - command: The command; its signature has been checked.
    ///   - now: The time.
    /// - Returns: What followed at once; with a spread it follows later, with the events of another call.
    /// - Throws: ``SwitchError/unknownServer(_:known:)``, ``SwitchError/staleCommand(version:last:)`` or
    ///   ``SwitchError/invalidCommand(_:)``, and then nothing has changed.
    public mutating func apply(_ command: PushCommand, at now: MonotonicTime) throws(SwitchError) -> [SwitchEvent] {
        if command.mode != .clear { _ = try position(of: command.server) }
        if let last = lastPush, command.version <= last {
            throw SwitchError.staleCommand(version: command.version, last: last)
        }
        guard command.spread >= .zero, command.timeToLive ?? .seconds(1) > .zero else {
            throw SwitchError.invalidCommand("expected a time to live above 0 and a spread of at least 0")
        }
        let time = read(now)
        lastPush = command.version
        let wait = command.spread > .zero ? command.spread.inSeconds * random.unit() : 0
        pendingPush = PendingPush(command: command, dueAt: time + wait)
        steer(at: time)
        return takeEvents()
    }

    /// Lets a pushed command begin or end when its time has come.
    mutating func steer(at time: Double) {
        if let pending = pendingPush, time >= pending.dueAt { begin(pending.command, at: time) }
        if let steering, time >= steering.until { endSteering(at: time) }
    }

    /// Puts a command in the place of the one before.
    private mutating func begin(_ command: PushCommand, at time: Double) {
        pendingPush = nil
        steering = nil
        restoreOrder()
        emit(.pushed(command))
        guard command.mode != .clear, let position = members.firstIndex(where: { $0.id == command.server }) else {
            return updateCurrent(.pushed, at: time)
        }
        let until = command.timeToLive.map { time + $0.inSeconds } ?? .infinity
        steering = Steering(command: command, until: until, forced: command.mode == .force ? position : nil)
        if command.mode == .avoid {
            order = steered(by: command)
            updateCurrent(.pushed, at: time)
        } else {
            prefer(position, isFresh: command.mode == .force, .pushed, at: time)
        }
    }

    /// The order of preference with the server of a command in its place; as it is when that is gone.
    func steered(by command: PushCommand) -> [UInt8] {
        guard command.mode != .clear, let named = order.first(where: { members[Int($0)].id == command.server }) else {
            return order
        }
        let others = order.filter { $0 != named }
        return command.mode == .avoid ? others + [named] : [named] + others
    }

    mutating func endSteering(at time: Double) {
        steering = nil
        restoreOrder()
        updateCurrent(.pushEnded, at: time)
    }

    /// Goes back to the list's order; where traffic stays with its server, to the ring that begins there.
    private mutating func restoreOrder() {
        order = baseOrder
        if !rules.policy.failsBack { turnRing(to: currentPosition) }
    }

    mutating func prefer(_ position: Int, isFresh: Bool, _ cause: SwitchCause, at time: Double) {
        if rules.policy.failsBack {
            order = [UInt8(position)] + baseOrder.filter { Int($0) != position }
        } else {
            turnRing(to: UInt8(position))
        }
        if isFresh {
            let wasHealthy = health[position].state == .healthy
            health[position].recover(generation: wasHealthy ? health[position].generation : takeGeneration(), at: time)
            health[position].window.clear()
            health[position].admission = AdmissionShare()
        }
        updateCurrent(cause, at: time)
    }

    func position(of id: Server.ID) throws(SwitchError) -> Int {
        guard let position = members.firstIndex(where: { $0.id == id }) else {
            throw SwitchError.unknownServer(id, known: serverIDs)
        }
        return position
    }
}
