extension SwitchingCore {
    /// Chooses the server of a request's first attempt.
    ///
    /// The choice is a healthy server by the policy's selection, otherwise a server on trial with a free slot,
    /// otherwise a server whose health or share does not admit the request. A server is found unless every server was
    /// tried. A request that must not be repeated avoids a server that may be silent, and does not go to a failing
    /// server instead.
    ///
    /// - Parameters:
    ///   - tried: The servers that are excluded.
    ///   - traits: The properties on which the choice may depend.
    ///   - now: The current time.
    /// - Returns: The attempt, whose outcome must be reported with `settle`, or `nil` if every server was tried.
    package mutating func choose(
        excluding tried: ServerSet = ServerSet(),
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime
    ) -> Attempt? {
        let time = read(now)
        if traits.mayBeRepeated { recovery.noteRepeatable(without: traits.unsuitable, at: time) }
        var traits = traits
        if !traits.mayBeRepeated, traits.unwanted.isEmpty { traits.unwanted = evidence.serversToAvoid(at: time) }
        guard let choice = pick(excluding: tried, for: traits, at: time) else { return nil }
        extras.beginRequest()
        return attempt(choice, .first, for: traits, at: now)
    }

    /// Whether a request should be shed (fail without being sent) because every healthy server is overloaded.
    ///
    /// ``AdmissionRules/sheds`` sets the priorities. Low-priority requests are shed. Normal-priority requests are shed
    /// with the probability that no server's share admits them, at most ``AdmissionRules/mostShed``. High-priority
    /// requests are never shed, and a service with a single server sheds no request.
    ///
    /// - Parameters:
    ///   - priority: The request's priority.
    ///   - unsuitable: The servers that do not serve the request; they count as absent.
    ///   - now: The current time.
    /// - Returns: Whether to shed the request.
    package mutating func sheds(
        _ priority: RequestPriority,
        without unsuitable: ServerSet = [],
        at now: MonotonicTime
    ) -> Bool {
        let time = read(now)
        guard let admission = rules.policy.admission, let highest = admission.sheds, priority <= highest,
            priority != .high, steering.members.count - unsuitable.count > 1
        else { return false }
        let healthy = recovery.healthy.subtracting(unsuitable)
        guard let refusal = self.admission.refusal(by: healthy, at: time) else { return false }
        return priority == .low || random.unit() < min(refusal, admission.mostShed)
    }

    /// Begins a failover: an attempt on another server, because an attempt failed or its server was ejected (taken out
    /// of use for a time).
    ///
    /// - Parameters:
    ///   - kind: The failure of the previous attempt; `nil` if the server was ejected while the request was waiting.
    ///   - tried: The servers that the request has tried.
    ///   - avoided: Servers that are used only if there is no other server. These servers do not count as tried.
    ///   - traits: The properties on which the choice may depend.
    ///   - isPaidFor: Whether the request has been charged to the failover budget (`Attempt.isPaid`). Such a request
    ///     may continue without another charge, except after overload.
    ///   - now: The current time.
    /// - Returns: The attempt, whose outcome must be reported; `nil` if the policy forbids a failover, the budget is
    ///   empty, or no server can take the request.
    package mutating func takeFailover(
        after kind: FailureKind?,
        excluding tried: ServerSet,
        avoiding avoided: ServerSet = [],
        for traits: RequestTraits = RequestTraits(),
        isPaidFor: Bool = false,
        at now: MonotonicTime
    ) -> Attempt? {
        var request = FailoverRequest(after: kind, isPaidFor: isPaidFor)
        (request.tried, request.avoided, request.traits) = (tried, avoided, traits)
        guard case .attempt(let attempt) = decideFailover(request, at: now) else { return nil }
        return attempt
    }

    // MARK: - Picking

    struct Choice {
        var position: Int
        var holdsTrialPlace = false
    }

    /// Whether a request that has tried these servers may have another attempt.
    func allowsAnother(_ tried: ServerSet, for traits: RequestTraits) -> Bool {
        let unreached = extendsAttempts(after: .refused) ? traits.unreached : 0
        return tried.count - unreached < rules.policy.maximumAttempts
    }

    /// Whether a request may exceed the maximum number of attempts, because its last attempt has reached no server.
    func extendsAttempts(after kind: FailureKind?) -> Bool {
        rules.policy.maximumAttempts > 1 && extras.isFree(after: kind)
    }

    /// Whether a server that is not in `tried` serves the request.
    func hasOthers(than tried: ServerSet, for traits: RequestTraits) -> Bool {
        tried.union(traits.unsuitable).count < steering.members.count
    }

    mutating func attempt(
        _ choice: Choice,
        _ role: Attempt.Role,
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime,
        followsOverload: Bool = false,
        isFree: Bool = false
    ) -> Attempt {
        if role != .probe, role != .warmUp, role != .suspicion { inFlight?.begin(choice.position) }
        return Attempt(
            server: choice.position,
            generation: recovery.servers[choice.position].generation,
            role: role,
            endpoint: traits.endpoint,
            timely: evidence.servers[choice.position].lateness.timely,
            startedAt: now,
            holdsTrialPlace: choice.holdsTrialPlace,
            followsOverload: followsOverload,
            isFree: isFree,
            unsuitable: traits.unsuitable
        )
    }

    mutating func pick(excluding tried: ServerSet, for traits: RequestTraits, at time: Double) -> Choice? {
        let excluded = tried.union(traits.unsuitable)
        if let forced = steering.forced, !excluded.contains(forced) { return Choice(position: forced) }
        var rest = excluded
        if !traits.unwanted.isEmpty {
            if let choice = pickUsable(excluding: excluded.union(traits.unwanted), for: traits, at: time) {
                return choice
            }
            // Only the unwanted servers are left to consider. If the other servers were considered twice, an overloaded
            // server would get more than its share of the traffic.
            rest = excluded.union(traits.unwanted.inverted)
        }
        return pickUsable(excluding: rest, for: traits, at: time)
            ?? leastBad(excluding: excluded).map { Choice(position: $0) }
    }

    /// Picks a server whose health and share admit the request, by the policy's selection.
    private mutating func pickUsable(
        excluding excluded: ServerSet,
        for traits: RequestTraits,
        at time: Double
    ) -> Choice? {
        if let choice = pickFailedServer(excluding: excluded, for: traits, at: time) { return choice }
        if !steering.layout.groups.isEmpty { return pickByGroup(excluding: excluded, for: traits, at: time) }
        guard usesOrder(traits) else { return pickByRank(excluding: excluded, for: traits, at: time) }
        let hasRoles = steering.layout.hasRoles
        let order = hasRoles ? steering.order(without: traits.unsuitable, recovery.healthy) : steering.order
        for position in order where !excluded.contains(Int(position)) {
            if let choice = admit(Int(position), for: traits, at: time) { return choice }
        }
        return nil
    }

    /// Picks an ejected server, or a server on trial, for most of the requests while every server in use is overloaded.
    private mutating func pickFailedServer(
        excluding excluded: ServerSet,
        for traits: RequestTraits,
        at time: Double
    ) -> Choice? {
        guard isOverloadedEverywhere(without: traits.unsuitable, at: time),
            let failed = firstFailedServer(excluding: excluded), random.unit() < Self.failedServersShare
        else { return nil }
        return failed
    }

    /// Returns the first server in the order of preference that is not healthy, or `nil` if there is none.
    ///
    /// A server that a command avoids is not returned.
    private func firstFailedServer(excluding excluded: ServerSet) -> Choice? {
        let passed = excluded.union(recovery.healthy).union(steering.avoided.map { [$0] } ?? [])
        return steering.order.first { !passed.contains(Int($0)) }.map { Choice(position: Int($0)) }
    }

    /// Picks a server for a failover.
    ///
    /// If `isFree` is `true`, because the earlier attempts certainly reached no server, the request may also go to an
    /// overloaded server if there is no other server. While every healthy server is overloaded, only a server that is
    /// not healthy is picked, because it may have recovered.
    mutating func pickFailover(
        excluding tried: ServerSet,
        for traits: RequestTraits,
        isFree: Bool,
        at time: Double
    ) -> Choice? {
        if isOverloadedEverywhere(without: traits.unsuitable, at: time) {
            return firstFailedServer(excluding: tried.union(traits.unsuitable))
        }
        return pickExtra(excluding: tried, for: traits, at: time)
            ?? (isFree ? pick(excluding: tried, for: traits, at: time) : nil)
    }

    /// Whether ``pickFailover(excluding:for:isFree:at:)`` with `isFree: false` would pick a server in use or the first
    /// server.
    ///
    /// The first server counts even if it is ejected: it may have recovered, and without switching the request would go
    /// there. For the same reason, any failed server counts while every server in use is overloaded.
    func hasFailover(excluding tried: ServerSet, for traits: RequestTraits, at time: Double) -> Bool {
        let excluded = tried.union(traits.unsuitable)
        if isOverloadedEverywhere(without: traits.unsuitable, at: time) {
            return firstFailedServer(excluding: excluded) != nil
        }
        let first = steering.first(without: traits.unsuitable)
        return steering.members.indices.contains {
            !excluded.contains($0) && (recovery.state(of: $0) != .ejected || $0 == first)
                && mayGetExtra($0, for: traits, at: time)
        }
    }

    /// Picks a server for an extra attempt.
    ///
    /// Servers whose last attempt failed come last. If the first three of four servers are dead, no response shows that
    /// they and not the network are at fault, so none of them is ejected. A request that had its three attempts at
    /// these servers fails. The next request has its second attempt at the fourth server, whose response shows that the
    /// first three are at fault.
    mutating func pickExtra(excluding tried: ServerSet, for traits: RequestTraits, at time: Double) -> Choice? {
        var (passed, traits) = (tried, traits)
        if traits.unwanted.isEmpty { traits.unwanted = evidence.failedServers(at: time) }
        while let choice = pick(excluding: passed, for: traits, at: time) {
            if mayGetExtra(choice.position, for: traits, at: time) { return choice }
            if choice.holdsTrialPlace { recovery.returnTrialPlace(choice.position) }
            passed.insert(choice.position)
        }
        return nil
    }

    /// Whether a server may get an extra attempt.
    ///
    /// A recently overloaded server may not, unless it is the preferred server, which would have received the request
    /// first.
    private func mayGetExtra(_ position: Int, for traits: RequestTraits, at time: Double) -> Bool {
        rules.policy.admission == nil || position == preferredPosition(without: traits.unsuitable)
            || admission.isClean(position, at: time)
    }

    /// Returns the choice of a server for one more attempt, or `nil` if the server's health or its share of the traffic
    /// does not admit the attempt.
    mutating func admit(_ position: Int, for traits: RequestTraits, at time: Double) -> Choice? {
        switch recovery.state(of: position) {
        case .ejected: nil
        case .trial:
            recovery.takeTrialPlace(position, for: traits, at: time)
                ? Choice(position: position, holdsTrialPlace: true) : nil
        case .healthy:
            admission.admits(position, at: time, &random) ? Choice(position: position) : nil
        }
    }

    /// The share of the requests that try a failed server first while every server in use is overloaded.
    ///
    /// With 0.5, 35.5 % of the requests fail in `yard simulate --scenario death-short --clients 2000`; with 0.8, 30 %
    /// fail. The remaining requests go to the overloaded servers and notice when the overload ends.
    private static let failedServersShare = 0.8

    /// Whether the first server that serves a request has failed, and every healthy server that serves the request has
    /// been overloaded for some time (``LastingOverload``).
    ///
    /// Most requests then try the failed servers first, without waiting for a probe, as they would without switching.
    /// If a failed server refuses a request, the request does not go to an overloaded server. Otherwise the clients
    /// would keep their load on the overloaded servers, none of which could then respond in time, and would not notice
    /// that the failed server has recovered. More requests would fail than without switching (`yard simulate
    /// --scenario death-short`).
    ///
    /// If the first server is overloaded and another server has failed, the requests still go to the first server.
    /// Without switching, they would go there too, and would succeed as soon as its overload ends.
    func isOverloadedEverywhere(without unsuitable: ServerSet = [], at time: Double) -> Bool {
        let healthy = recovery.healthy.subtracting(unsuitable)
        guard !healthy.isEmpty, healthy.count + unsuitable.count < steering.members.count, rules.sparesOverloaded,
            let first = steering.first(without: unsuitable), !healthy.contains(first)
        else { return false }
        return steering.members.indices.allSatisfy {
            !healthy.contains($0) || evidence.servers[$0].overload.holds(at: time)
        }
    }

    /// Returns the server to use if no server admits the request.
    ///
    /// This is the healthy server with the largest share. If none is healthy, it is the server whose probe or trial is
    /// due first.
    private func leastBad(excluding tried: ServerSet) -> Int? {
        var best: (position: Int, isDown: Bool, badness: Double)?
        for position in steering.order.lazy.map({ Int($0) }) where !tried.contains(position) {
            let isDown = recovery.state(of: position) != .healthy
            let badness = isDown ? recovery.dueAt(of: position) : -admission.lastShare(of: position)
            if let best, (best.isDown, best.badness) <= (isDown, badness) { continue }
            best = (position, isDown, badness)
        }
        return best?.position
    }
}

private func <= (left: (Bool, Double), right: (Bool, Double)) -> Bool {
    left.0 == right.0 ? left.1 <= right.1 : !left.0
}
