/// The clock and the timers of a client.
///
/// A client reads the time and sets timers only through its time source, so a test can control both (`ManualClock` in
/// `SwitchyardTesting`). In production, the time source is ``SystemTime``.
public protocol TimeSource: Sendable {
    /// The current time, which never goes backwards.
    var now: MonotonicTime { get }

    /// The current time or a slightly earlier time, for code that prefers a cheap reading to an exact time.
    ///
    /// By default, it is the exact time.
    var coarseNow: MonotonicTime { get }

    /// The time at which the process last resumed after the system had paused it, or `nil` if it was never paused.
    ///
    /// Durations that include a pause say nothing about the speed of a server. The default is `nil`.
    var resumedAt: MonotonicTime? { get }

    /// Calls `action` once at the deadline, on a thread of the time source; a past deadline fires immediately.
    ///
    /// - Parameters:
    ///   - deadline: The time of the call.
    ///   - action: The closure to call. It must not block.
    /// - Returns: The timer, which can be cancelled. Cancelling it after the call has no effect.
    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer
}

extension TimeSource {
    /// The exact time.
    public var coarseNow: MonotonicTime { now }

    /// `nil`, because the source does not detect pauses.
    public var resumedAt: MonotonicTime? { nil }
}

/// A scheduled timer that can be cancelled.
public protocol ScheduledTimer: Sendable {
    /// Cancels the timer.
    ///
    /// Its action will not be called, unless it is already running. Calling this method again has no effect.
    func cancel()
}

extension TimeSource {
    /// Waits until a point in time.
    ///
    /// - Parameter deadline: The end of the wait. If it has passed, the method returns immediately.
    /// - Throws: `CancellationError` if the task is cancelled before the deadline.
    public func sleep(until deadline: MonotonicTime) async throws(CancellationError) {
        let alarm = Alarm()
        let rang = await withTaskCancellationHandler {
            await withUnsafeContinuation { alarm.set(on: self, at: deadline, waking: $0) }
        } onCancel: {
            alarm.end(ringing: false)
        }
        guard rang else { throw CancellationError() }
    }

    /// Waits for a duration.
    ///
    /// - Parameter duration: The duration of the wait. If it is not positive, the method returns immediately.
    /// - Throws: `CancellationError` if the task is cancelled before the end.
    public func sleep(for duration: Duration) async throws(CancellationError) {
        if duration > .zero { try await sleep(until: now.advanced(by: duration)) }
    }
}

/// A wait for a timer.
///
/// The timer, the waiting task and a cancellation may arrive in any order.
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

/// Access to the time of a time source, with a faster path for ``SystemTime``.
///
/// A call through `any TimeSource` copies the existential. Because the time is read with every call, the copy would
/// cost as much as reading the time. ``SystemTime``, the usual time source, is therefore called directly.
package final class TimeReader: Sendable {
    private let source: any TimeSource
    private let system: SystemTime?

    package init(_ source: any TimeSource) {
        self.source = source
        system = source as? SystemTime
    }

    /// The current time.
    package var now: MonotonicTime { system?.now ?? source.now }

    /// The time at which the process last resumed after a pause.
    package var resumedAt: MonotonicTime? {
        if let system { system.resumedAt } else { source.resumedAt }
    }

    /// The current time or a slightly earlier time.
    package var coarseNow: MonotonicTime { system?.coarseNow ?? source.coarseNow }
}
