/// The share of its traffic that each server gets.
///
/// Overload cuts the share, and successes and time restore it. Whether a server gets requests at all follows from its
/// health (``Recovery``).
struct Admission: Sendable {
    private let rules: CompiledPolicy
    private(set) var servers: [AdmissionShare]
    /// Whether a server has timed out since the last response of any server.
    private var hasDoubts = false

    init(_ rules: CompiledPolicy, count: Int) {
        self.rules = rules
        servers = Array(repeating: AdmissionShare(), count: count)
    }

    /// Whether a server gets the next request: by chance in proportion to its share, and not before its `Retry-After`
    /// ends.
    func admits(_ position: Int, at time: Double, _ random: inout RandomSource) -> Bool {
        guard time >= servers[position].notBefore else { return false }
        let share = share(of: position, at: time)
        return share >= 1 || random.unit() < share
    }

    /// Returns the share of a server at a time.
    func share(of position: Int, at time: Double) -> Double { servers[position].present(at: time, rules) }

    /// Returns the share of a server at its last change.
    func lastShare(of position: Int) -> Double { servers[position].share }

    /// Whether a server has shown no overload for so long that it may get extra attempts.
    func isClean(_ position: Int, at time: Double) -> Bool { servers[position].isClean(at: time, rules) }

    /// Returns the probability that none of several servers admits a request; `nil` if one of them admits every
    /// request, or if none is overloaded.
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

    /// Whether slowness and overload may not eject a server, because none of the other healthy ones could take its
    /// traffic.
    func sparesOverload(_ position: Int, _ kind: FailureKind, healthy: ServerSet, at time: Double) -> Bool {
        guard let admission = rules.policy.admission, admission.sparesOverloaded, kind.isOverload else { return false }
        return !servers.indices.contains { $0 != position && healthy.contains($0) && isClean($0, at: time) }
    }
}

// MARK: - Evidence

extension Admission {
    /// Raises the share of a server after a success.
    mutating func raise(_ position: Int, at time: Double) {
        guard let admission = rules.policy.admission else { return }
        servers[position].raise(at: time, step: admission.step, rules)
    }

    /// Cuts the share of a server after a failure that shows overload.
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

    /// Forgets unconfirmed timeouts, because the network works or is another one.
    mutating func clearDoubts() {
        guard hasDoubts else { return }
        hasDoubts = false
        for position in servers.indices { servers[position].clearDoubt() }
    }

    /// Gives a server its full share, and ends its `Retry-After`.
    mutating func restore(_ position: Int) { servers[position] = AdmissionShare() }

    /// Moves the shares to new positions; `nil` is a new server.
    mutating func rearrange(_ known: [Int?]) {
        servers = known.map { old in old.map { servers[$0] } ?? AdmissionShare() }
    }
}
