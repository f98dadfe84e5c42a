public import SwitchyardServices
public import SwitchyardTransport

/// A single progress value for a whole request (sending, waiting and receiving) that moves evenly and never decreases,
/// for a progress bar.
///
///     let smoothed = SmoothedProgress { share in bar.show(share) }
///     let answer = try await client.upload(upload) { smoothed.report($0) }
///     smoothed.finish()
///
/// The value starts at 0, moves every 50 ms while there is a change to show, and stays below 1 until ``finish()`` sets
/// it to 1. ``ProgressEstimate`` describes how the three parts are weighted and how waiting is estimated.
public final class SmoothedProgress: Sendable {
    private struct State {
        var estimate = ProgressEstimate()
        var timer: (any ScheduledTimer)?
        var isOver = false
        /// Whether the timer is calling the handler at this moment.
        ///
        /// If ``finish()`` is called meanwhile, the timer reports the end after this call.
        var isDecisive = false
    }

    private let time: any TimeSource
    private let interval: Duration
    private let handler: @Sendable (Double) -> Void
    private let start: MonotonicTime
    private let state = Locked(State())

    /// Creates a progress and starts its timer.
    ///
    /// - Parameters:
    ///   - time: The clock.
    ///   - interval: The interval of the timer, 50 ms by default, and at least 1 ms.
    ///   - handler: A closure that receives the completed fraction, 0 to 1. The calls never overlap. The timer calls it
    ///     on a thread of the clock. The last call, with 1, runs on the thread that calls ``finish()``. If the timer is
    ///     calling the handler at that moment, the last call follows on the timer's thread.
    public init(
        time: any TimeSource = SystemTime.shared,
        interval: Duration = .milliseconds(50),
        handler: @escaping @Sendable (Double) -> Void
    ) {
        self.time = time
        self.interval = max(interval, .milliseconds(1))
        self.handler = handler
        start = time.now
        schedule()
    }

    deinit {
        state.withLock { $0.timer }?.cancel()
    }

    /// Adds a progress report of the transport.
    ///
    /// You can pass this method as a ``/SwitchyardTransport/TransferProgressHandler``.
    public func report(_ report: TransferProgress) {
        let elapsed = start.duration(to: time.now)
        state.withLock { $0.estimate.take(report, at: elapsed) }
    }

    /// Sets the value to 1 and ends the progress.
    public func finish() {
        let (tells, timer) = state.withLock { state in
            let isFirst = !state.isOver
            state.isOver = true
            defer { state.timer = nil }
            return (isFirst && !state.isDecisive, state.timer)
        }
        timer?.cancel()
        if tells { handler(1) }
    }

    private func schedule() {
        let timer = time.schedule(at: time.now.advanced(by: interval)) { [weak self] in self?.step() }
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    private func step() {
        let elapsed = start.duration(to: time.now)
        let share: Double? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.isDecisive = true
            return state.estimate.step(at: elapsed)
        }
        guard let share else { return }
        handler(share)
        let isOver = state.withLock { state in
            state.isDecisive = false
            return state.isOver
        }
        if isOver { handler(1) } else { schedule() }
    }
}
