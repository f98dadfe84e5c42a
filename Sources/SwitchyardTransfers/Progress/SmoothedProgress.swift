public import SwitchyardServices
public import SwitchyardTransport

/// One number for a whole request, sending, waiting and receiving, that moves evenly and never back: for a bar that a
/// person watches.
///
///     let smoothed = SmoothedProgress { share in bar.show(share) }
///     let answer = try await client.upload(upload) { smoothed.report($0) }
///     smoothed.finish()
///
/// It begins at 0, moves every 50 ms while there is something to show, stays below 1 until ``finish()``, and is 1 then.
/// How the parts are weighed and how waiting is estimated is described at ``ProgressEstimate``.
public final class SmoothedProgress: Sendable {
    private struct State {
        var estimate = ProgressEstimate()
        var timer: (any ScheduledTimer)?
        var isOver = false
        /// Whether the handler is being told a share; then whoever tells it tells the end as well.
        var isTelling = false
    }

    private let time: any TimeSource
    private let interval: Duration
    private let handler: @Sendable (Double) -> Void
    private let start: MonotonicTime
    private let state = Locked(State())

    /// Creates a progress and starts its clock.
    ///
    /// - Parameters:
    ///   - time: The clock.
    ///   - interval: The time between two steps; 50 ms unless given, at least 1 ms.
    ///   - handler: Told the share done, 0 to 1, one after the other, on a thread of the clock; the last on that of
    ///     ``finish()``, unless a share is just being told: then behind it.
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

    /// Takes a report of the transport in; a ``/SwitchyardTransport/TransferProgressHandler``.
    public func report(_ report: TransferProgress) {
        let elapsed = start.duration(to: time.now)
        state.withLock { $0.estimate.take(report, at: elapsed) }
    }

    /// Ends the progress at 1.
    public func finish() {
        let (tells, timer) = state.withLock { state in
            let isFirst = !state.isOver
            state.isOver = true
            defer { state.timer = nil }
            return (isFirst && !state.isTelling, state.timer)
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
            state.isTelling = true
            return state.estimate.step(at: elapsed)
        }
        guard let share else { return }
        handler(share)
        let isOver = state.withLock { state in
            state.isTelling = false
            return state.isOver
        }
        if isOver { handler(1) } else { schedule() }
    }
}
