/// The share of its traffic that each server receives.
///
/// Overload cuts the share, and successes and time restore it. The health of a server (``Recovery``) determines whether
/// the server receives requests at all.
struct Admission: Sendable {
    private let rules: CompiledPolicy
    private(set) var servers: [AdmissionShare]
    /// Whether there was an unconfirmed timeout since a server last responded or the network last changed.
    ///
    /// A timeout is unconfirmed if no other server responded to the same request, so the network may be at fault.
    private var hasDoubts = false

    init(_ rules: CompiledPolicy, count: Int) {
        self.rules = rules
        servers = Array(repeating: AdmissionShare(), count: count)
    }

    /// Returns whether a server gets the next request.
    ///
    /// The decision is random in proportion to the server's share. It is `false` until the time in the server's
    /// `Retry-After` has come.
    func admits(_ position: Int, at time: Double, _ random: inout RandomSource) -> Bool {
        guard time >= servers[position].notBefore else { return false }
        if servers[position].isFull { return true }
        let share = share(of: position, at: time)
        return share >= 1 || random.unit() < share
    }

    /// Returns the share of its traffic that a server receives at the given time.
    func share(of position: Int, at time: Double) -> Double { servers[position].present(at: time, rules) }

    /// Returns the share of traffic of a server at its last change, without the increase by time since then.
    func lastShare(of position: Int) -> Double { servers[position].share }

    /// Whether a server has shown no overload for so long that it may get extra attempts.
    func isClean(_ position: Int, at time: Double) -> Bool { servers[position].isClean(at: time, rules) }

    /// Returns the probability that no server of a set admits a request.
    ///
    /// The result is `nil` if a server of the set admits every request, or if none is overloaded.
    func refusal(by positions: ServerSet, at time: Double) -> Double? {
        var refusal = 1.0
        var isOverloaded = false
        for position in servers.indices where positions.contains(position) {
            let share = share(of: position, at: time)
            guard share < 1 else { return nil }
            refusal *= 1 - share
            if servers[position].isOverloaded(at: time, rules) { isOverloaded = true }
        }
        return isOverloaded ? refusal : nil
    }

    /// Whether slowness and overload must not eject a server, because every other healthy server has recently been
    /// overloaded too.
    func sparesOverload(_ position: Int, _ kind: FailureKind, healthy: ServerSet, at time: Double) -> Bool {
        guard let admission = rules.policy.admission, admission.sparesOverloaded, kind.isOverload else { return false }
        return !servers.indices.contains { $0 != position && healthy.contains($0) && isClean($0, at: time) }
    }
}

// MARK: - Evidence

extension Admission {
    /// Raises the share of traffic of a server after a success.
    mutating func raise(_ position: Int, at time: Double) {
        guard !servers[position].isFull, let admission = rules.policy.admission else { return }
        servers[position].raise(at: time, step: admission.step, rules)
    }

    /// Cuts the share of traffic of a server after a failure that shows overload.
    mutating func cut(
        _ position: Int,
        after kind: FailureKind,
        retryAfter: Duration?,
        at time: Double,
        _ random: inout RandomSource
    ) {
        guard let admission = rules.policy.admission else { return }
        let factor = admission.cut(for: kind)
        if factor < 1 {
            servers[position].cut(by: factor, at: time, floor: admission.floor, rules)
        }
        if kind.isRejection, let retryAfter {
            let wait = min(rules.longestRetryAfter, max(0, retryAfter.inSeconds))
            servers[position].notBefore = time + wait * (1 + 0.5 * random.unit())
        }
    }

    /// Records an unconfirmed failure that may come from an overloaded server.
    mutating func doubt(
        _ position: Int,
        after kind: FailureKind,
        retryAfter: Duration?,
        at time: Double,
        _ random: inout RandomSource
    ) {
        guard let admission = rules.policy.admission else { return }
        if kind == .timeout {
            let factor = admission.needsConfirmation ? 1 : admission.timeoutCut
            servers[position].doubt(by: factor, at: time, floor: admission.floor)
            hasDoubts = true
        } else if kind.isRejection, !admission.needsConfirmation {
            cut(position, after: kind, retryAfter: retryAfter, at: time, &random)
        }
    }

    /// Forgets unconfirmed timeouts, because the network works again or the machine uses another network.
    mutating func clearDoubts() {
        guard hasDoubts else { return }
        hasDoubts = false
        for position in servers.indices { servers[position].clearDoubt() }
    }

    /// Restores the full share of traffic of a server, and ends its `Retry-After`.
    mutating func restore(_ position: Int) { servers[position] = AdmissionShare() }

    /// Moves the shares of traffic to the new positions of the servers.
    ///
    /// `known` contains the old position of each server, or `nil` for a new server.
    mutating func rearrange(_ known: [Int?]) {
        servers = known.map { old in old.map { servers[$0] } ?? AdmissionShare() }
    }
}
