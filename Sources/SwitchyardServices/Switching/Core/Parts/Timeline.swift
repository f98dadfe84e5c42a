/// The time of a core, and the periods in which outcomes are no evidence about servers.
///
/// Attempts that began before a change of the network path are no evidence. Of the attempts that began before a pause
/// of the process, only responses are evidence.
struct Timeline: Sendable {
    private var clock = CoreClock()
    /// The time until which outcomes are no evidence, because the network path has changed.
    private var quietUntil = -1e9
    /// The time of the last change of the network path.
    private var pathSince = MonotonicTime(nanoseconds: .min)
    /// The time at which the process last continued after a pause.
    private var resumedAt = MonotonicTime(nanoseconds: .min)

    /// The time that the core received last.
    var reading: MonotonicTime { clock.reading }

    /// Whether the clock is stopped because the machine is offline.
    var isFrozen: Bool { clock.isFrozen }

    /// Advances the clock to the time in `now`, and returns the core's time in seconds.
    mutating func read(_ now: MonotonicTime) -> Double {
        // If the clock has jumped back, new attempts would otherwise seem to have begun before the change of the path.
        if now < pathSince, clock.jumpsBack(to: now) { pathSince = now }
        if now < resumedAt, clock.jumpsBack(to: now) { resumedAt = now }
        return clock.read(now)
    }

    /// Returns the core's time in seconds without advancing the clock.
    func time(at now: MonotonicTime) -> Double {
        var clock = clock
        return clock.read(now)
    }

    /// Stops the clock.
    mutating func freeze(at now: MonotonicTime) { clock.freeze(at: now) }

    /// Restarts the clock at the time at which it stopped.
    mutating func thaw(at now: MonotonicTime) { clock.thaw(at: now) }

    /// Records a change of the network path at `now`; outcomes are no evidence until `end`.
    mutating func changePath(at now: MonotonicTime, quietUntil end: Double) {
        pathSince = now
        quietUntil = end
    }

    /// Records the end of a pause of the process.
    ///
    /// A time before the end of the last pause changes nothing.
    mutating func resume(at end: MonotonicTime) {
        resumedAt = max(resumedAt, end)
    }

    /// Whether outcomes are no evidence at this time, because the machine is offline or its network path has just
    /// changed.
    func isQuiet(at time: Double) -> Bool { clock.isFrozen || time < quietUntil }

    /// Whether the duration of an attempt says something about its server, because the process was not paused during
    /// the attempt.
    func isTimed(_ attempt: Attempt) -> Bool { attempt.startedAt >= resumedAt }

    /// Whether the outcome of an attempt is no evidence because of the time at which the attempt began.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - kind: The failure, or `nil`. A failure that is an HTTP response is evidence even if the process was paused
    ///     during the attempt.
    /// - Returns: Whether the outcome is no evidence.
    func isOutdated(_ attempt: Attempt, _ kind: FailureKind?) -> Bool {
        attempt.startedAt < pathSince || (attempt.startedAt < resumedAt && kind?.isAnswer != true)
    }

    /// Whether the outcome of an attempt is evidence about its server.
    func counts(_ attempt: Attempt, _ kind: FailureKind?, at time: Double) -> Bool {
        !isQuiet(at: time) && !isOutdated(attempt, kind)
    }
}
