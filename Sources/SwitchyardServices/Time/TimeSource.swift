/// The clock and the timers of a client.
///
/// A client reads the time and sets timers only through its time source, so that a test can own both
/// (`ManualClock` in `SwitchyardTesting`). In production it is ``SystemTime``.
public protocol TimeSource: Sendable {
    /// The time now.
    ///
    /// Never goes backwards.
    var now: MonotonicTime { get }

    /// The time, or one shortly before, for those who would rather ask cheaply than exactly.
    ///
    /// Unless a source knows better, it is the exact time.
    var coarseNow: MonotonicTime { get }

    /// Calls `action` once when the time has come, on a thread of the time source; at once when it has passed.
    ///
    /// - Parameters:
    ///   - deadline: When to call.
    ///   - action: What to call. It must not block.
    /// - Returns: The timer, which can be cancelled. Cancelling after the call is harmless.
    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer
}

extension TimeSource {
    /// The exact time.
    public var coarseNow: MonotonicTime { now }
}

/// A timer that has been set and can be cancelled.
public protocol ScheduledTimer: Sendable {
    /// Cancels the timer; its action will not be called unless it is running already.
    ///
    /// Calling it again is harmless.
    func cancel()
}
