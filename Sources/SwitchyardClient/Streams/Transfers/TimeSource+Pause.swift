import SwitchyardServices

extension TimeSource {
    /// Waits on this clock; returns early when the task is cancelled.
    func pause(for duration: Duration) async {
        let pause = Pause()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                pause.wait(continuation)
                pause.hold(schedule(at: now.advanced(by: max(.zero, duration))) { pause.end() })
            }
        } onCancel: {
            pause.end()
        }
    }
}

/// Brings a waiting task, its timer and a cancel together, in whatever order they come.
private final class Pause: Sendable {
    private struct State {
        var waiter: CheckedContinuation<Void, Never>?
        var timer: (any ScheduledTimer)?
        var isOver = false
    }

    private let state = Locked(State())

    func wait(_ waiter: CheckedContinuation<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.waiter = waiter }
            return state.isOver
        }
        if isOver { waiter.resume() }
    }

    func hold(_ timer: any ScheduledTimer) {
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    func end() {
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
}
