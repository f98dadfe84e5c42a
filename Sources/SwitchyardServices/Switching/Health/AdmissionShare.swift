#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The share of its traffic that a server gets (``AdmissionRules``), and what the server said about coming back.
struct AdmissionShare: Sendable {
    /// The share at the time of the last change.
    private(set) var share = 1.0
    /// The share up to which successes double it.
    private var slowStart = 1.0
    /// The last sign of overload.
    private(set) var overloadedAt = -1e9
    /// The last sign that was more than being overtaken by a hedge: a time-out or a refusal.
    private var exhaustedAt = -1e9
    /// How many signs of overload came close enough to each other, at most 3.
    private var signs: UInt8 = 0
    /// The factor of time-outs that may have been the network's fault, and the last of them.
    private var doubt = 1.0
    private var doubtedAt = -1e9
    /// Until when the server asked to be left alone.
    var notBefore = 0.0

    /// Cuts the share after a sign of overload, which may be only that a hedge was faster.
    mutating func cut(
        by factor: Double,
        wasOvertaken: Bool = false,
        at now: Double,
        floor: Double,
        _ rules: CompiledPolicy
    ) {
        if !wasOvertaken { exhaustedAt = now }
        signs = now - overloadedAt < rules.forgetting ? min(signs + 1, 3) : 1
        share = max(floor, proven(at: now, rules) * factor)
        slowStart = share
        overloadedAt = now
    }

    /// Cuts the share until any server answers.
    mutating func cutInDoubt(by factor: Double, at now: Double, floor: Double) {
        doubt = max(floor, doubt * factor)
        doubtedAt = now
    }

    /// Gives back what was cut in doubt.
    mutating func clearDoubt() {
        doubt = 1
        doubtedAt = -1e9
    }

    /// Raises the share after a success.
    mutating func raise(at now: Double, step: Double, _ rules: CompiledPolicy) {
        guard share < 1 else { return }
        if now - overloadedAt >= rules.forgetting {
            share = 1
        } else if share < slowStart {
            share = min(slowStart, 2 * share)
        } else {
            share = min(1, share + step)
        }
    }

    /// The share that counts now, with the part that time gave back.
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

    /// Whether the server has certainly shown overload, and often enough, within the time after which that is forgotten.
    ///
    /// Two signs can come from a single moment, in which a request that failed was tried anew.
    func isOverloaded(at now: Double, _ rules: CompiledPolicy) -> Bool {
        signs > 2 && now - overloadedAt < rules.forgetting
    }

    /// Whether the server has shown no overload for so long that it may get extra attempts.
    func isClean(at now: Double, _ rules: CompiledPolicy) -> Bool {
        now - max(overloadedAt, doubtedAt) > rules.clean
    }

    /// Whether the server may get a request that failed elsewhere: it may have been slow, but it has kept up.
    func keepsUp(at now: Double, _ rules: CompiledPolicy) -> Bool {
        now - max(exhaustedAt, doubtedAt) > rules.clean
    }
}
