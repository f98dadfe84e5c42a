import SwitchyardClient
import SwitchyardServices

/// A clock that moves only when a test moves it; its timers never fire.
final class StillTime: TimeSource {
    private let state = Locked(MonotonicTime.zero)

    var now: MonotonicTime { state.withLock { $0 } }

    func advance(by duration: Duration) {
        state.withLock { $0 = $0.advanced(by: duration) }
    }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        NoTimer()
    }

    private struct NoTimer: ScheduledTimer {
        func cancel() {}
    }
}
