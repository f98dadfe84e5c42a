#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The share of its traffic that a server gets (``AdmissionRules``), and its last `Retry-After`.
struct AdmissionShare: Sendable {
    /// The share of traffic at the time of the last change.
    private(set) var share = 1.0
    /// The time of the last sign of overload.
    private(set) var overloadedAt = -1e9
    /// The number of recent signs of overload, at most 3.
    ///
    /// After a long time without overload, the count restarts.
    private var signs: UInt8 = 0
    /// The time of the last unconfirmed timeout.
    ///
    /// `doubt` is the combined factor of all unconfirmed timeouts.
    private var doubtedAt = -1e9
    private var doubt = 1.0
    /// The time until which the server must not get requests (`Retry-After`).
    var notBefore = 0.0

    /// Whether the server gets all of its traffic and has no unconfirmed timeout.
    var isFull: Bool { share >= 1 && doubt >= 1 }

    /// Cuts the share of traffic after a sign of overload.
    mutating func cut(
        by factor: Double,
        at now: Double,
        floor: Double,
        _ rules: CompiledPolicy
    ) {
        signs = now - overloadedAt < rules.forgetting ? min(signs + 1, 3) : 1
        share = max(floor, proven(at: now, rules) * factor)
        overloadedAt = now
    }

    /// Records an unconfirmed timeout.
    ///
    /// Either the network or an overloaded server may be at fault. Until any server responds, the server gets no extra
    /// attempts, and its share is multiplied by `factor`.
    mutating func doubt(by factor: Double, at now: Double, floor: Double) {
        doubt = max(floor, doubt * factor)
        doubtedAt = now
    }

    /// Forgets unconfirmed timeouts.
    mutating func clearDoubt() {
        doubt = 1
        doubtedAt = -1e9
    }

    /// Raises the share of traffic after a success.
    mutating func raise(at now: Double, step: Double, _ rules: CompiledPolicy) {
        guard share < 1 else { return }
        share = now - overloadedAt >= rules.forgetting ? 1 : min(1, share + step)
    }

    /// Returns the current share of traffic, including its increase by time since the last change.
    func present(at now: Double, _ rules: CompiledPolicy) -> Double {
        let share = proven(at: now, rules)
        return doubt < 1 && now - doubtedAt < rules.forgetting ? max(rules.leastShare, share * doubt) : share
    }

    private func proven(at now: Double, _ rules: CompiledPolicy) -> Double {
        guard share < 1 else { return 1 }
        let elapsed = max(0, now - overloadedAt)
        guard elapsed < rules.forgetting else { return 1 }
        return rules.doubling.isFinite ? min(1, share * exp2(elapsed / rules.doubling)) : share
    }

    /// Whether the server has shown overload at least three times lately (``AdmissionRules/forgetting``).
    ///
    /// Two signs are not enough, because they can come from one failed request and its retry.
    func isOverloaded(at now: Double, _ rules: CompiledPolicy) -> Bool {
        signs > 2 && now - overloadedAt < rules.forgetting
    }

    /// Whether the server has shown no overload for so long that it may get extra attempts.
    func isClean(at now: Double, _ rules: CompiledPolicy) -> Bool {
        now - max(overloadedAt, doubtedAt) > rules.clean
    }
}
