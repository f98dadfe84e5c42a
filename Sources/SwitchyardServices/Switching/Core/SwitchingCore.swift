/// The decisions about the servers of one service: which server gets the next attempt, which is ejected (taken out of
/// use for a time), and which has recovered.
///
/// The core is a value that performs no I/O and has no clock or randomness of its own. Every call receives the time,
/// and the random numbers follow from the seed, so the same seed and the same calls give the same decisions. Threads
/// that share a core protect it with a lock.
///
/// ### The life of a request
///
///     guard let attempt = core.choose(at: now) else { ... }          // a server, always one that was not tried
///     ... core.hedgeDelay(for: attempt, remaining: left) ...         // no response in this time: takeHedge
///     ... core.takeFailover(after: kind, excluding: tried, at: now)  // failed, and safe to send again
///     events = core.settle([SettledAttempt(...)], at: now)           // once, with every attempt of the request
///
/// Each decision has a part with private state: ``Steering`` (which server is preferred), ``Recovery`` (which are in
/// use), ``Admission`` (what share of the traffic each gets), ``Evidence`` (what outcomes say about servers and
/// endpoints), ``ExtraAttempts`` (which failovers and hedges the budgets allow), ``InFlight`` (how many requests each
/// server has in flight) and ``Timeline`` (which outcomes count). The parts do not refer to each other: the core calls
/// one part and reports the result to the other parts.
///
/// Besides requests, the client calls ``takeProbe(for:at:)`` and ``takeWarmUp(for:at:)`` whenever it has traffic,
/// ``sheds(_:without:at:)`` before a request, and ``takeSuspicion(of:asking:without:atLeast:at:)`` because of a late or
/// failed request that must not be repeated. If the passed time is earlier than the previous time by up to a second,
/// the core's clock stands still. If it is earlier by more than a second, the core's clock continues from its previous
/// time.
package struct SwitchingCore: Sendable {
    /// The properties of a server on which its selection depends.
    package struct Member: Sendable, Hashable, Identifiable {
        /// The name of the server.
        package var id: Server.ID
        /// The weight of the server, at least 0.
        package var weight: Double
        /// The rank of the server, or `nil` if the order of the list is the order of preference.
        package var priority: Int?
        /// The zone of the server.
        package var zone: String?
        /// Whether the server serves every request.
        package var servesEverything = true
        /// Whether the server serves any request that a probe can send.
        package var servesReads = true
        let hash: UInt64

        package init(id: Server.ID, weight: Double = 1, priority: Int? = nil, zone: String? = nil) {
            self.id = id
            self.weight = weight
            self.priority = priority
            self.zone = zone
            hash = StableHash.of(id)
        }

        /// Creates the member of a switching core that describes a server of a service.
        package init(_ server: Server) {
            self.init(id: server.id, weight: server.weight, priority: server.priority, zone: server.zone)
            servesEverything = server.serves == .everything
            servesReads = server.serves.includesReads
        }
    }

    let rules: CompiledPolicy
    /// The part that decides which server is preferred.
    var steering: Steering
    /// The part that decides which servers are in use, and how failed servers return.
    var recovery: Recovery
    /// The part that decides what share of its traffic each server gets.
    var admission: Admission
    /// The part that records what the outcomes say about servers and endpoints.
    var evidence: Evidence
    /// The part that decides which failovers and hedges the budgets allow.
    ///
    /// A failover is an attempt on another server after a failure, and a hedge is one while an attempt is slow.
    var extras: ExtraAttempts
    /// The part that counts the requests in flight, or `nil` if the selection does not compare them.
    var inFlight: InFlight?
    /// The core's clock, and the part that decides which outcomes count.
    var timeline = Timeline()
    /// The time at which the list of servers was last replaced.
    ///
    /// The new list may have moved servers to other hosts.
    var replacedAt = MonotonicTime(nanoseconds: .min)
    var random: RandomSource
    private var events: [SwitchEvent] = []

    /// The number of changes of the preferred server.
    ///
    /// Pass it to ``switchTo(_:from:at:)`` or ``next(from:at:)``, so that only one of several simultaneous triggers
    /// switches.
    package var version: UInt64 { steering.version }

    /// Creates a core with healthy servers.
    ///
    /// - Parameters:
    ///   - members: The servers in order of preference.
    ///   - policy: The policy.
    ///   - now: The current time.
    ///   - seed: The seed of all random numbers.
    ///   - installation: A random number that identifies the installation of the app. The servers after the first are
    ///     shuffled by weight in an order that depends only on this number, so that not all clients move to the same
    ///     server. If `nil`, the order of the list is kept.
    /// - Throws: The error in the list or in the policy.
    package init(
        members: [Member],
        policy: SwitchPolicy = .recommended,
        at now: MonotonicTime,
        seed: UInt64,
        installation: UInt64? = nil
    ) throws(SwitchError) {
        do throws(SwitchPolicy.Problem) { try policy.check() } catch { throw SwitchError.invalidPolicy(error) }
        try SwitchingCore.check(members)
        rules = CompiledPolicy(policy)
        steering = Steering(members, policy, installation: installation)
        random = RandomSource(seed: seed)
        let start = timeline.read(now)
        recovery = Recovery(rules, count: members.count, at: start)
        admission = Admission(rules, count: members.count)
        evidence = Evidence(rules, count: members.count, at: start)
        extras = ExtraAttempts(rules, at: start)
        inFlight = InFlight(rules, count: members.count)
    }

    /// Returns a copy with another seed, for simulating many clients.
    ///
    /// The copy shares all equal parts with this core.
    package func reseeded(_ seed: UInt64) -> SwitchingCore {
        var copy = self
        copy.random = RandomSource(seed: seed)
        return copy
    }

    /// The switching policy.
    package var policy: SwitchPolicy { rules.policy }

    /// The names of the servers, by position.
    package var serverIDs: [Server.ID] { steering.members.map(\.id) }

    /// The name of the preferred server, which requests go to first.
    package var current: Server.ID { steering.currentID }

    /// Returns the name of the server that a request goes to first.
    package func preferred(for traits: RequestTraits) -> Server.ID {
        steering.members[preferredPosition(without: traits.unsuitable)].id
    }

    /// Returns the position of the preferred server among those that serve a request.
    func preferredPosition(without unsuitable: ServerSet) -> Int {
        guard steering.layout.hasRoles else { return Int(steering.current) }
        let suitable = steering.order.lazy.map { Int($0) }.filter { !unsuitable.contains($0) }
        return suitable.first { recovery.state(of: $0) == .healthy } ?? suitable.first ?? Int(steering.current)
    }

    static func check(_ members: [Member]) throws(SwitchError) {
        guard !members.isEmpty else { throw SwitchError.noServers }
        guard members.count <= ServerSet.capacity else { throw SwitchError.tooManyServers(members.count) }
        var ids: Set<Server.ID> = []
        for member in members {
            guard ids.insert(member.id).inserted else { throw SwitchError.duplicateServer(member.id) }
            guard member.weight.isFinite, member.weight >= 0 else {
                throw SwitchError.invalidWeight(member.id, member.weight)
            }
        }
    }
}

extension SwitchingCore {
    /// Advances the core's clock, performs actions that are due, and returns the core's time in seconds.
    mutating func read(_ now: MonotonicTime) -> Double {
        let time = timeline.read(now)
        if steering.isCommanded { steer(at: time) }
        return time
    }

    mutating func emit(_ kind: SwitchEvent.Kind, _ statistics: HealthStatistics = HealthStatistics()) {
        events.append(SwitchEvent(at: timeline.reading, kind, statistics: statistics))
    }

    /// Returns the events since the last call of this method, and forgets them.
    mutating func takeEvents() -> [SwitchEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }
}
