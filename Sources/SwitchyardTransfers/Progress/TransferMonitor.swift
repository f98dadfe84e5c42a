public import Foundation
import SwitchyardClient
import SwitchyardServices
package import SwitchyardTransport

/// Shows a transfer in a Foundation `Progress`.
///
/// Through this `Progress`, the transfer can be cancelled, paused and resumed.
///
///     let monitor = TransferMonitor()
///     download.monitor = monitor
///     bar.observedProgress = monitor.progress
///
/// The units are bytes. A transfer without bytes has one unit, which is completed. While the transfer is paused, it
/// reads at most one buffer from its source, so the other side waits. The deadline of the transfer continues to run.
/// Use a monitor for one transfer only.
public final class TransferMonitor: Sendable {
    /// The progress of the transfer.
    ///
    /// Its total is -1 as long as the total is unknown.
    public let progress: Progress

    private struct State {
        var isPaused = false
        var isOver = false
        var isCancelled = false
        var cancel: (@Sendable () -> Void)?
        var waiters = WaiterList<Void>()
    }

    private let state = Locked(State())

    /// Creates a monitor.
    ///
    /// Its progress has no parent progress.
    public init() {
        progress = Progress.discreteProgress(totalUnitCount: -1)
        progress.kind = .file
        progress.isCancellable = true
        progress.isPausable = true
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        // The handlers may be called in any order, so each of them reads the current state of the progress.
        progress.pausingHandler = { [weak self] in self?.followProgress() }
        progress.resumingHandler = { [weak self] in self?.followProgress() }
    }

    // MARK: Transfer

    /// Sets the closure that cancels the transfer.
    ///
    /// If a cancellation was requested before, the closure is called immediately.
    package func attach(_ cancel: @escaping @Sendable () -> Void) {
        // The progress may have been cancelled just now, and may not have called its handler yet.
        let isCancelled = progress.isCancelled
        let wasCancelled = state.withLock { state in
            // A transfer that fails immediately may already have ended.
            guard !state.isOver else { return false }
            state.cancel = cancel
            return state.isCancelled || isCancelled
        }
        if wasCancelled { cancel() }
    }

    /// Releases the transfer, which has ended.
    package func detach() {
        state.withLock { state in
            state.cancel = nil
            state.isOver = true
        }
        followProgress()
    }

    /// Updates the progress with a report.
    ///
    /// A report about the other direction is ignored.
    package func update(_ report: TransferProgress, of direction: TransferProgress.Direction) {
        guard report.direction == direction else { return }
        // Foundation treats a progress with a total of zero as indeterminate and never finishes it.
        let isEmpty = report.total == 0
        if let total = isEmpty ? 1 : report.total, progress.totalUnitCount != total { progress.totalUnitCount = total }
        progress.completedUnitCount = isEmpty ? 1 : report.completed
    }

    /// Waits while the transfer is paused.
    package func waitWhilePaused() async {
        guard followProgress() else { return }
        let waiter = Waiter<Void>()
        let mustWait = state.withLock { state in
            if state.isPaused { state.waiters.add(waiter) }
            return state.isPaused
        }
        guard mustWait else { return }
        await waiter.outcome { [self] in state.withLock { _ = $0.waiters.remove(waiter) } }
    }

    // MARK: Progress

    private func cancel() {
        let cancel = state.withLock { state in
            state.isCancelled = true
            return state.cancel
        }
        cancel?()
        wake()
    }

    /// Updates the stored pause state from the progress, and returns the state.
    @discardableResult
    private func followProgress() -> Bool {
        let isPaused = state.withLock { state in
            state.isPaused = progress.isPaused && !state.isOver
            return state.isPaused
        }
        if !isPaused { wake() }
        return isPaused
    }

    private func wake() {
        for waiter in state.withLock({ $0.waiters.removeAll() }) { waiter.resume(returning: ()) }
    }
}

extension Transfer {
    /// Performs the transfer as ``carryOut(completion:_:)`` does.
    ///
    /// The monitor shows the transfer and can cancel it.
    ///
    /// - Parameters:
    ///   - monitor: The monitor, if any.
    ///   - completion: Receives the result.
    ///   - work: The work of the transfer.
    func carryOut<Outcome: Sendable>(
        shownBy monitor: TransferMonitor?,
        completion: @escaping @Sendable (Outcome) -> Void,
        _ work: @escaping @Sendable () async -> Outcome
    ) {
        carryOut(completion: completion) {
            let outcome = await work()
            monitor?.detach()
            return outcome
        }
        monitor?.attach { [self] in cancel() }
    }
}
