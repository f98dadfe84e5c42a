import SwitchyardServices

/// Sends the spans or metrics that a source has collected, in batches, one batch after another.
///
/// A batch is sent after an interval, earlier if a full batch is waiting, and immediately if a caller waits for
/// everything to be sent. If nothing is waiting, no timer is set.
final class ExportLoop: Sendable {
    /// How much a source has collected that is not sent yet.
    enum Backlog {
        case none
        case some
        /// At least a full batch.
        case full
    }

    private struct State {
        var timer: (any ScheduledTimer)?
        var isSending = false
        var task: Task<Void, Never>?
        var waiters: [Waiter<Void>] = []
        var isClosed = false
    }

    private let interval: Duration
    private let time: any TimeSource
    private let backlog: @Sendable () -> Backlog
    private let sendBatch: @Sendable () async -> Void
    private let state = Locked(State())

    /// Creates a loop.
    ///
    /// - Parameters:
    ///   - interval: The time for which the first content of the source waits before it is sent.
    ///   - time: The clock and the timers.
    ///   - backlog: Returns whether the source has content. It may be called while the loop holds its lock, so it must
    ///     not call the loop.
    ///   - sendBatch: Takes a batch from the source, and sends or drops it.
    init(
        every interval: Duration,
        on time: any TimeSource,
        backlog: @escaping @Sendable () -> Backlog,
        sendBatch: @escaping @Sendable () async -> Void
    ) {
        self.interval = interval
        self.time = time
        self.backlog = backlog
        self.sendBatch = sendBatch
    }

    /// Sets the timer, or starts to send, if the source has content.
    func wake() {
        switch backlog() {
        case .none: break
        case .some: plan()
        case .full: start()
        }
    }

    /// Sends everything, and waits until it was sent or dropped.
    ///
    /// - Parameter limit: The time after which the caller does not wait any longer.
    func flush(within limit: Duration) async {
        let waiter = Waiter<Void>()
        let timer = time.schedule(at: time.now.advanced(by: max(.zero, limit))) { waiter.resume(returning: ()) }
        defer { timer.cancel() }
        let isClosed = state.withLock { state in
            if !state.isClosed { state.waiters.append(waiter) }
            return state.isClosed
        }
        if isClosed { return }
        start()
        await waiter.outcome {}
        state.withLock { $0.waiters.removeAll { $0 === waiter } }
    }

    /// Ends the loop.
    ///
    /// The batch that is being sent is cancelled.
    func close() {
        let (timer, task, waiters) = state.withLock { state in
            state.isClosed = true
            defer { (state.timer, state.task, state.waiters) = (nil, nil, []) }
            return (state.timer, state.task, state.waiters)
        }
        timer?.cancel()
        task?.cancel()
        for waiter in waiters { waiter.resume(returning: ()) }
    }

    private func plan() {
        state.withLock { state in
            guard !state.isClosed, !state.isSending, state.timer == nil else { return }
            // Setting a timer runs no other code, so it may happen under the lock.
            state.timer = time.schedule(at: time.now.advanced(by: interval)) { [weak self] in self?.start() }
        }
    }

    private func start() {
        let timer: (any ScheduledTimer)? = state.withLock { state in
            guard !state.isClosed, !state.isSending else { return nil }
            state.isSending = true
            // A detached task inherits neither the trace nor the user of a call from the code that made the last span.
            state.task = Task.detached(priority: .utility) { await self.run() }
            defer { state.timer = nil }
            return state.timer
        }
        timer?.cancel()
    }

    private func run() async {
        repeat {
            await sendBatch()
        } while !Task.isCancelled && hasMore()
        // `wake()` does not start the loop while it is busy, so it is called again for content that arrived meanwhile.
        wake()
    }

    /// Returns whether another batch follows immediately.
    ///
    /// If not, the loop is idle from now on.
    private func hasMore() -> Bool {
        let (hasMore, waiters): (Bool, [Waiter<Void>]) = state.withLock { state in
            let (backlog, isAwaited) = (backlog(), !state.waiters.isEmpty)
            if backlog == .full || (isAwaited && backlog == .some) { return (true, []) }
            (state.isSending, state.task) = (false, nil)
            defer { state.waiters = [] }
            return (false, state.waiters)
        }
        for waiter in waiters { waiter.resume(returning: ()) }
        return hasMore
    }
}
