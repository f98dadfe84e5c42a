import SwitchyardServices

/// A tracker that knows whether a page is open: a feed request of a page is waiting, or has ended recently.
final class PagePresence: Sendable {
    private struct State {
        var waiting = 0
        var isOpen = false
        var isOver = false
        var timer: (any ScheduledTimer)?
    }

    /// The time for which a page counts as open after its last feed request has ended.
    static let gracePeriod = Duration.seconds(30)

    private let time: any TimeSource
    private let opened: @Sendable () -> Void
    private let left: @Sendable () -> Void
    private let state = Locked(State())

    /// Creates a tracker.
    ///
    /// No page is open yet.
    ///
    /// Both callbacks are called while the tracker's lock is held, so they never overlap. A callback must not acquire
    /// any lock except the client's.
    ///
    /// - Parameters:
    ///   - time: The clock.
    ///   - opened: A closure that is called when the first page opens.
    ///   - left: A closure that is called when the last page is closed.
    init(time: any TimeSource, opened: @escaping @Sendable () -> Void, left: @escaping @Sendable () -> Void) {
        self.time = time
        self.opened = opened
        self.left = left
    }

    /// Whether a page is open.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Records the start of a feed request, or returns `false` if the inspector has stopped.
    func come() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.waiting += 1
            state.timer?.cancel()
            state.timer = nil
            if !state.isOpen { opened() }
            state.isOpen = true
            return true
        }
    }

    /// Records the end of a feed request.
    func leave() {
        state.withLock { state in
            state.waiting -= 1
            guard state.waiting == 0, !state.isOver else { return }
            let deadline = time.now.advanced(by: Self.gracePeriod)
            state.timer = time.schedule(at: deadline) { [weak self] in self?.close(isOver: false) }
        }
    }

    /// Records that no page is open, and rejects later feed requests.
    func end() {
        close(isOver: true)
    }

    private func close(isOver: Bool) {
        state.withLock { state in
            // If a feed request starts while the timer fires, the page stays open.
            guard isOver || state.waiting == 0 else { return }
            state.timer?.cancel()
            state.timer = nil
            if state.isOpen { left() }
            state.isOpen = false
            state.isOver = state.isOver || isOver
        }
    }
}
