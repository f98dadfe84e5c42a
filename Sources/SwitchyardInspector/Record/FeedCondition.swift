import SwitchyardServices

/// Wakes the feed requests that wait for a change.
final class FeedCondition: Sendable {
    private enum Sleeper {
        /// The waiter is registered but has not suspended yet.
        case tired
        case asleep(CheckedContinuation<Void, Never>)
        /// The waiter was woken, possibly before it suspended.
        case woken
    }

    private struct State {
        var change = 0
        var sleepers: [UInt64: Sleeper] = [:]
        var lastSleeper: UInt64 = 0
        var isOver = false
    }

    private let state = Locked(State())

    /// The number of waiters.
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Wakes all waiters that wait for a change with this number or a lower one.
    func ring(_ change: Int) {
        wakeAll { $0.change = max($0.change, change) }
    }

    /// Wakes all waiters; later waits return immediately.
    func end() {
        wakeAll { $0.isOver = true }
    }

    /// Waits for a change newer than `change`; returns early after `limit` or if the task is cancelled.
    func wait(after change: Int, atMost limit: Duration, on time: any TimeSource) async {
        let number = state.withLock { state in
            state.lastSleeper += 1
            state.sleepers[state.lastSleeper] = .tired
            return state.lastSleeper
        }
        let timer = time.schedule(at: time.now.advanced(by: limit)) { [weak self] in self?.wake(number) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let sleeps = state.withLock { state in
                    if case .woken = state.sleepers[number] { return false }
                    guard !state.isOver, state.change <= change else { return false }
                    state.sleepers[number] = .asleep(continuation)
                    return true
                }
                if !sleeps { continuation.resume() }
            }
        } onCancel: {
            wake(number)
        }
        timer.cancel()
        state.withLock { $0.sleepers[number] = nil }
    }

    private func wake(_ number: UInt64) {
        let sleeper: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard let sleeper = state.sleepers[number] else { return nil }
            state.sleepers[number] = .woken
            if case .asleep(let continuation) = sleeper { return continuation }
            return nil
        }
        sleeper?.resume()
    }

    private func wakeAll(_ body: (inout State) -> Void) {
        let numbers = state.withLock { state in
            body(&state)
            return Array(state.sleepers.keys)
        }
        for number in numbers { wake(number) }
    }
}
