extension TimeSource {
    /// Waits for a duration on this clock; returns early if the task is cancelled.
    package func pause(for duration: Duration) async {
        await Pause().wait(for: duration, on: self)
    }
}

/// A wait that can be ended early; the waiting task, its timer and a cancellation may arrive in any order.
package final class Pause: Sendable {
    private struct State {
        var waiter: CheckedContinuation<Void, Never>?
        var timer: (any ScheduledTimer)?
        var isOver = false
    }

    private let state = Locked(State())

    package init() {}

    /// Waits for a duration, once.
    ///
    /// It returns early after ``end()`` or if the task is cancelled.
    package func wait(for duration: Duration, on time: any TimeSource) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                hold(continuation)
                hold(time.schedule(at: time.now.advanced(by: max(.zero, duration))) { self.end() })
            }
        } onCancel: {
            end()
        }
    }

    /// Ends the wait, even if it has not started yet.
    package func end() {
        let (waiter, timer) = state.withLock { state in
            defer {
                state.isOver = true
                state.waiter = nil
                state.timer = nil
            }
            return (state.waiter, state.timer)
        }
        timer?.cancel()
        waiter?.resume()
    }

    private func hold(_ waiter: CheckedContinuation<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.waiter = waiter }
            return state.isOver
        }
        if isOver { waiter.resume() }
    }

    private func hold(_ timer: any ScheduledTimer) {
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }
}
