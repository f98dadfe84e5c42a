extension SwitchingCore {
    /// Takes the warm-up of the first fallback, if it is due (``SwitchPolicy/warmUp``).
    ///
    /// To be asked whenever the client has traffic, with a copy of an idempotent request at hand. It says nothing about
    /// the server; what counts is the connection that it leaves behind.
    ///
    /// - Parameter now: The time.
    /// - Returns: The attempt, which may be handed to ``settleProbe(_:_:at:)`` like a probe.
    public mutating func takeWarmUp(at now: MonotonicTime) -> Attempt? {
        guard let gap = rules.policy.warmUp, rules.policy.selection == .priority else { return nil }
        let time = read(now)
        guard warmUpDue >= 0 else {
            warmUpDue = time + gap.inSeconds * (1 + 4 * random.unit()) / 60
            return nil
        }
        guard time >= warmUpDue, !clock.isFrozen, let fallback = firstFallback(at: time) else { return nil }
        warmUpDue = time + jittered(gap.inSeconds)
        return attempt(Choice(position: fallback), .warmUp, at: now)
    }

    /// The server that would be next if the preferred one failed, and that has nothing to recover from.
    private func firstFallback(at time: Double) -> Int? {
        order.lazy.map { Int($0) }.first { position in
            position != Int(currentPosition) && health[position].state == .healthy
                && health[position].admission.isClean(at: time, rules)
        }
    }
}
