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
