import SwitchyardServices

/// Knows whether a page is open: whether one waits for a feed, or asked for one not long ago.
final class PagePresence: Sendable {
    private struct State {
        var waiting = 0
        var isOpen = false
        var isOver = false
        var timer: (any ScheduledTimer)?
    }

    /// How long after its last feed a page counts as open.
    static let patience = Duration.seconds(30)

    private let time: any TimeSource
    private let opened: @Sendable () -> Void
    private let left: @Sendable () -> Void
    private let state = Locked(State())

    /// Creates it with no page open.
    ///
    /// - Parameters:
    ///   - time: The clock.
    ///   - opened: Called when there is a page after there was none. It is called under the lock, so that this and the
    ///     other take turns, and takes no lock but the client's.
    ///   - left: Called when the last page is gone; likewise.
    init(time: any TimeSource, opened: @escaping @Sendable () -> Void, left: @escaping @Sendable () -> Void) {
        self.time = time
        self.opened = opened
        self.left = left
    }

    /// Whether a page is open.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Takes note of a page that asks for a feed; `false` when it is all over.
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

    /// Takes note of a page that has its feed, or waits for it no more.
    func leave() {
        state.withLock { state in
            state.waiting -= 1
            guard state.waiting == 0, !state.isOver else { return }
            let deadline = time.now.advanced(by: Self.patience)
            state.timer = time.schedule(at: deadline) { [weak self] in self?.close(isOver: false) }
        }
    }

    /// Lets no page in from now on.
    func end() {
        close(isOver: true)
    }

    private func close(isOver: Bool) {
        state.withLock { state in
            // A page that came when the timer fired has it stay open.
            guard isOver || state.waiting == 0 else { return }
            state.timer?.cancel()
            state.timer = nil
            if state.isOpen { left() }
            state.isOpen = false
            state.isOver = state.isOver || isOver
        }
    }
}
