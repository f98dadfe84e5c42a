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

    /// When the process last went on after the system had stopped it; `nil` when it never was.
    ///
    /// What happened before says nothing about how long a server takes. Unless a source knows better, it is `nil`.
    var resumedAt: MonotonicTime? { get }

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

    /// Never.
    public var resumedAt: MonotonicTime? { nil }
}

/// A timer that has been set and can be cancelled.
public protocol ScheduledTimer: Sendable {
    /// Cancels the timer; its action will not be called unless it is running already.
    ///
    /// Calling it again is harmless.
    func cancel()
}

extension TimeSource {
    /// Waits until a point in time.
    ///
    /// - Parameter deadline: When to go on; a point that has passed is now.
    /// - Throws: `CancellationError` when the task is cancelled before.
    public func sleep(until deadline: MonotonicTime) async throws(CancellationError) {
        let alarm = Alarm()
        let rang = await withTaskCancellationHandler {
            await withUnsafeContinuation { alarm.set(on: self, at: deadline, waking: $0) }
        } onCancel: {
            alarm.end(ringing: false)
        }
        guard rang else { throw CancellationError() }
    }

    /// Waits for a time.
    ///
    /// - Parameter duration: How long; what is not above zero is not at all.
    /// - Throws: `CancellationError` when the task is cancelled before.
    public func sleep(for duration: Duration) async throws(CancellationError) {
        if duration > .zero { try await sleep(until: now.advanced(by: duration)) }
    }
}

/// Brings a timer, whoever waits for it and a cancel together, in whatever order they come.
private final class Alarm: Sendable {
    private struct State {
        var sleeper: UnsafeContinuation<Bool, Never>?
        var timer: (any ScheduledTimer)?
        var hasEnded = false
    }

    private let state = Locked(State())

    func set(on time: some TimeSource, at deadline: MonotonicTime, waking sleeper: UnsafeContinuation<Bool, Never>) {
        let isCancelled = state.withLock { state in
            if !state.hasEnded { state.sleeper = sleeper }
            return state.hasEnded
        }
        guard !isCancelled else { return sleeper.resume(returning: false) }
        let timer = time.schedule(at: deadline) { self.end(ringing: true) }
        let isLate = state.withLock { state in
            if !state.hasEnded { state.timer = timer }
            return state.hasEnded
        }
        if isLate { timer.cancel() }
    }

    func end(ringing: Bool) {
        let (sleeper, timer) = state.withLock { state in
            defer { state = State(hasEnded: true) }
            return (state.sleeper, state.timer)
        }
        timer?.cancel()
        sleeper?.resume(returning: ringing)
    }
}

/// Reads the time of a source, and sets its timers.
///
/// That of the system, which nearly everybody uses, is asked without the copy that a value of any type needs: where the
/// time is read with every call, the copy costs as much as the time.
package struct TimeReader: Sendable {
    private let source: any TimeSource
    private let system: SystemTime?

    package init(_ source: any TimeSource) {
        self.source = source
        system = source as? SystemTime
    }

    /// The time.
    package var now: MonotonicTime { system?.now ?? source.now }

    /// When the process last went on after it was stopped.
    package var resumedAt: MonotonicTime? { system?.resumedAt ?? source.resumedAt }

    /// The time, or one shortly before.
    package var coarseNow: MonotonicTime { system?.coarseNow ?? source.coarseNow }

    /// Calls `action` once when the time has come.
    package func schedule(
        at deadline: MonotonicTime,
        _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer {
        system?.schedule(at: deadline, action) ?? source.schedule(at: deadline, action)
    }
}
