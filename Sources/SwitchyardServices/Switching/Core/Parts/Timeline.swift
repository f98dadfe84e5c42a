/// The time of a core, and the periods whose outcomes say nothing about servers.
///
/// Attempts that began before a change of the network path say nothing. Of attempts that began before a pause of the
/// process, only responses count.
struct Timeline: Sendable {
    private var clock = CoreClock()
    /// The time until which outcomes say nothing after a change of path.
    private var quietUntil = -1e9
    /// The time since which attempts use the current path.
    private var pathSince = MonotonicTime(nanoseconds: .min)
    /// The time at which the process last continued after a pause.
    private var resumedAt = MonotonicTime(nanoseconds: .min)

    /// The time as it was last handed in.
    var reading: MonotonicTime { clock.reading }

    /// Whether the time is stopped, because the machine is offline.
    var isFrozen: Bool { clock.isFrozen }

    /// Takes the time handed in, and returns the time inside.
    mutating func read(_ now: MonotonicTime) -> Double {
        // Attempts that are made after a jump must not seem to be from before the change of path.
        if now < pathSince, clock.jumpsBack(to: now) { pathSince = now }
        if now < resumedAt, clock.jumpsBack(to: now) { resumedAt = now }
        return clock.read(now)
    }

    /// Returns the time inside without advancing it.
    func time(at now: MonotonicTime) -> Double {
        var clock = clock
        return clock.read(now)
    }

    /// Stops the time.
    mutating func freeze(at now: MonotonicTime) { clock.freeze(at: now) }

    /// Lets the time continue from where it stopped.
    mutating func thaw(at now: MonotonicTime) { clock.thaw(at: now) }

    /// Records a change of the network path, after which no outcome counts for a number of seconds.
    mutating func changePath(at now: MonotonicTime, quietUntil end: Double) {
        pathSince = now
        quietUntil = end
    }

    /// Records the end of a pause of the process; an earlier time than the last one changes nothing.
    mutating func resume(at end: MonotonicTime) {
        resumedAt = max(resumedAt, end)
    }

    /// Whether no outcome says anything at this time.
    func isQuiet(at time: Double) -> Bool { clock.isFrozen || time < quietUntil }

    /// Whether the duration of an attempt is its server's, and not that of a pause of the process.
    func isTimed(_ attempt: Attempt) -> Bool { attempt.startedAt >= resumedAt }

    /// Whether the outcome of an attempt says nothing about its server because of the time at which it began.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - kind: The failure; `nil` if there was none, or if no response may count.
    /// - Returns: Whether it says nothing.
    func isOutdated(_ attempt: Attempt, _ kind: FailureKind?) -> Bool {
        attempt.startedAt < pathSince || (attempt.startedAt < resumedAt && kind?.isAnswer != true)
    }

    /// Whether the outcome of an attempt may say something about its server.
    func counts(_ attempt: Attempt, _ kind: FailureKind?, at time: Double) -> Bool {
        !isQuiet(at: time) && !isOutdated(attempt, kind)
    }
}
