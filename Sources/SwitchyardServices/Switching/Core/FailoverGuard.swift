/// A condition that must hold before a failed request is sent to another server.
///
/// The guards are listed in the order in which they are checked. The first guard whose condition does not hold stops
/// the failover.
public enum FailoverGuard: String, Sendable, Hashable, CaseIterable {
    /// The request may be resent: its earlier copies certainly have no effect any more, or a repetition is harmless.
    case resendRule
    /// The deadline of the request has not passed.
    case deadline
    /// The call leaves the choice of the server to the client.
    case fixedServer
    /// No attempt was sent to a host outside the service.
    case otherHost
    /// The policy allows failovers (``SwitchPolicy/failsOver``).
    case policy
    /// The request has had fewer attempts than ``SwitchPolicy/maximumAttempts``, not counting attempts that have reached
    /// no server.
    case attemptLimit
    /// The failover budget permits the failover, the failover costs the budget nothing, or the request has already been
    /// charged for an earlier failover.
    case budget
    /// A recent failover of the endpoint was useful. Otherwise the endpoint is assumed to fail on every server.
    case endpoint
    /// A server that the request has not tried can take the request.
    case servers
    /// One of the servers that the request has not tried serves the request (``Server/serves``).
    case roles
    /// At least one server in use is not overloaded, or the first server is in use.
    ///
    /// Otherwise, a request that a failed server has refused goes to no overloaded server. The servers in use are
    /// overloaded if none of them has responded for 10 s and each of them has timed out or rejected at least two
    /// requests.
    case overload
}

extension FailoverGuard: CustomStringConvertible {
    /// The reason why the guard stopped the failover, such as `no server left`.
    public var description: String {
        switch self {
        case .resendRule: "must not be sent again"
        case .deadline: "no time left"
        case .fixedServer: "the call names its server"
        case .otherHost: "the request was sent to a host outside the service"
        case .policy: "the policy has no failover"
        case .attemptLimit: "no attempt left"
        case .budget: "the failover budget is empty"
        case .endpoint: "the endpoint fails on every server"
        case .servers: "no server left"
        case .roles: "no other server serves the request"
        case .overload: "every server in use is overloaded"
        }
    }
}

/// The facts about a failed request that decide whether the request goes to another server.
package struct FailoverRequest: Sendable {
    /// Whether the resend rule allows another copy, given what is known about the earlier copies.
    package var mayBeResent = true
    /// Whether the deadline of the request has not passed.
    package var hasTime = true
    /// Whether the call leaves the choice of the server to the client.
    package var leavesChoice = true
    /// Whether an attempt was sent to a host outside the service.
    package var hasLeftService = false
    /// The failure of the previous attempt, or `nil` if its server was ejected (taken out of use for a time) while the
    /// request was waiting.
    package var failure: FailureKind?
    /// The servers that the request has tried.
    package var tried = ServerSet()
    /// The servers that are used only if there is no other server.
    ///
    /// These servers do not count as tried.
    package var avoided = ServerSet()
    /// The properties of the request on which the choice of the server may depend.
    package var traits = RequestTraits()
    /// Whether the request has been charged to the failover budget (`Attempt.isPaid`).
    ///
    /// The request may then continue without another charge, except after overload.
    package var isPaidFor = false
    /// The time for which the request has waited for the failover budget so far.
    package var held = Duration.zero

    /// Creates the facts about a request that may be resent, has time left and leaves the choice of the server to the
    /// client.
    package init(after failure: FailureKind?, isPaidFor: Bool = false) {
        self.failure = failure
        self.isPaidFor = isPaidFor
    }
}

/// The decision whether a failed request goes to another server.
package enum FailoverDecision: Sendable {
    /// The request goes to another server with this attempt, whose outcome must be reported.
    case attempt(Attempt)
    /// The request checks again after this time, because the failover budget may permit the failover then.
    case wait(Duration)
    /// The request goes to no other server, because this guard stopped the failover.
    case stopped(FailoverGuard)
}

// MARK: - Decision

extension SwitchingCore {
    /// Decides whether a failed request goes to another server.
    ///
    /// - Parameters:
    ///   - request: The facts about the request.
    ///   - now: The current time.
    /// - Returns: The attempt on another server, the time to wait for the failover budget, or the guard that stopped
    ///   the failover.
    package mutating func decideFailover(_ request: FailoverRequest, at now: MonotonicTime) -> FailoverDecision {
        if let obstacle = Self.obstacle(to: request) { return .stopped(obstacle) }
        let obstacle = obstacle(to: request, at: read(now))
        if obstacle == nil, let attempt = beginFailover(request, at: now) { return .attempt(attempt) }
        let pause = failoverPause(
            after: request.failure,
            held: request.held,
            excluding: request.tried,
            for: request.traits,
            at: now
        )
        if let pause { return .wait(pause) }
        return .stopped(obstacle ?? lackOfServers(for: request, at: read(now)))
    }

    /// Whether a request whose attempt cannot connect could then go to another server that is in use, or to the first
    /// server.
    ///
    /// An ejected server (one that is out of use for a time) other than the first does not count, although the request
    /// would go there after a failure: the server that is being tried is more likely to respond.
    ///
    /// - Parameters:
    ///   - tried: The servers that the request will have tried at the time of the failure.
    ///   - traits: The properties of the request.
    ///   - now: The current time.
    /// - Returns: Whether no guard of the service would stop the failover to such a server.
    package mutating func couldFailOver(
        excluding tried: ServerSet,
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime
    ) -> Bool {
        let time = read(now)
        var request = FailoverRequest(after: .connectTimeout)
        (request.tried, request.traits) = (tried, traits)
        return obstacle(to: request, at: time) == nil && hasFailover(excluding: tried, for: traits, at: time)
    }

    /// Returns the guard that stops a failover for which no server could be chosen: ``FailoverGuard/servers``,
    /// ``FailoverGuard/roles`` or ``FailoverGuard/overload``.
    private func lackOfServers(for request: FailoverRequest, at time: Double) -> FailoverGuard {
        guard request.tried.count < steering.members.count else { return .servers }
        guard hasOthers(than: request.tried, for: request.traits) else { return .roles }
        return isOverloadedEverywhere(without: request.traits.unsuitable, at: time) ? .overload : .servers
    }

    /// Returns the first guard that stops a failover, among the guards that depend on the request alone, or `nil` if
    /// there is none.
    package static func obstacle(to request: FailoverRequest) -> FailoverGuard? {
        // A request that is not safe to repeat is never at two servers at the same time, and is not sent again while an
        // earlier copy may still be executed.
        guard request.mayBeResent else { return .resendRule }
        // At the deadline the caller gets a result, so a later response would be discarded.
        guard request.hasTime else { return .deadline }
        // The call names its server or its URL, so only that server can respond.
        guard request.leavesChoice else { return .fixedServer }
        // A server of the service cannot respond in place of another host.
        guard !request.hasLeftService else { return .otherHost }
        return nil
    }

    /// Returns the first guard that stops a failover, among the guards that depend on the service and its state, or
    /// `nil` if there is none.
    ///
    /// The guards ``FailoverGuard/servers``, ``FailoverGuard/roles`` and ``FailoverGuard/overload`` are not checked
    /// here, because the choice of a server decides them.
    private mutating func obstacle(to request: FailoverRequest, at time: Double) -> FailoverGuard? {
        let (failure, isPaidFor) = (request.failure, request.isPaidFor)
        // The app has turned failovers off.
        guard rules.policy.failsOver else { return .policy }
        // More attempts would prolong a failure that is not the servers' fault.
        guard allowsAnother(request.tried, for: request.traits) || extendsAttempts(after: failure) else {
            return .attemptLimit
        }
        // Without this budget, the failovers of all clients would overload the remaining servers.
        guard extras.allowsFailover(after: failure, isPaidFor: isPaidFor, at: time) else { return .budget }
        // If every server fails the endpoint, the fault is in the request or in a shared backend.
        let endpoint = request.traits.endpoint
        guard evidence.allowsFailover(after: failure, of: endpoint, isPaidFor: isPaidFor, claims: false, at: time)
        else { return .endpoint }
        return nil
    }

    /// Chooses the server of a failover that no guard has stopped, and charges the failover budget.
    ///
    /// - Returns: The attempt, or `nil` if no server can take the request.
    private mutating func beginFailover(_ request: FailoverRequest, at now: MonotonicTime) -> Attempt? {
        let (failure, traits, tried) = (request.failure, request.traits, request.tried)
        let (time, isFree) = (read(now), extras.isFree(after: failure))
        let excluded = tried.union(request.avoided)
        guard
            let choice = pickFailover(excluding: excluded, for: traits, isFree: isFree, at: time)
                ?? (excluded == tried ? nil : pickFailover(excluding: tried, for: traits, isFree: isFree, at: time))
        else { return nil }
        extras.beginFailover(isFree: isFree, at: time)
        let (endpoint, isPaidFor) = (traits.endpoint, request.isPaidFor)
        _ = evidence.allowsFailover(after: failure, of: endpoint, isPaidFor: isPaidFor, claims: true, at: time)
        let followsOverload = failure?.isOverload == true
        return attempt(choice, .failover, for: traits, at: now, followsOverload: followsOverload, isFree: isFree)
    }
}
