/// One task that waits for one outcome.
///
/// The outcome may arrive before the task waits, and the task may be cancelled at any time. The first outcome or the
/// cancellation decides, and later outcomes are ignored.
@usableFromInline package final class Waiter<Outcome: Sendable>: Sendable {
    private enum State {
        case idle
        case waiting(UnsafeContinuation<Outcome, Never>)
        case decided(Outcome)
    }

    private let state = Locked(State.idle)

    /// Creates a waiter without an outcome.
    package init() {}

    /// Waits for the outcome, once.
    ///
    /// - Parameter cancelled: A closure that returns the outcome if the task is cancelled. It may remove the waiter
    ///   from a list.
    /// - Returns: The first outcome.
    package nonisolated(nonsending) func outcome(
        onCancel cancelled: @escaping @Sendable () -> Outcome
    ) async -> Outcome {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { suspend($0) }
        } onCancel: {
            resume(returning: cancelled())
        }
    }

    private func suspend(_ continuation: UnsafeContinuation<Outcome, Never>) {
        let outcome: Outcome? = state.withLock { state in
            if case .decided(let outcome) = state { return outcome }
            state = .waiting(continuation)
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    /// Resumes the task with an outcome.
    ///
    /// - Returns: Whether this is the first outcome.
    @discardableResult
    package func resume(returning outcome: Outcome) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, UnsafeContinuation<Outcome, Never>?) in
            switch state {
            case .decided: return (false, nil)
            case .idle:
                state = .decided(outcome)
                return (true, nil)
            case .waiting(let continuation):
                state = .decided(outcome)
                return (true, continuation)
            }
        }
        continuation?.resume(returning: outcome)
        return isFirst
    }
}

/// The waiters for one event, which their owner protects with a lock.
///
/// Code that removes waiters resumes them after releasing the lock.
@usableFromInline package struct WaiterList<Outcome: Sendable>: Sendable {
    @usableFromInline var waiters: [ObjectIdentifier: Waiter<Outcome>] = [:]

    /// Creates an empty list.
    package init() {}

    /// The number of waiters.
    package var count: Int { waiters.count }

    /// Whether there are no waiters.
    @inlinable package var isEmpty: Bool { waiters.isEmpty }

    /// Adds a waiter.
    package mutating func add(_ waiter: Waiter<Outcome>) {
        waiters[ObjectIdentifier(waiter)] = waiter
    }

    /// Removes a waiter that does not wait any more.
    ///
    /// - Returns: Whether the waiter was in the list.
    @discardableResult
    package mutating func remove(_ waiter: Waiter<Outcome>) -> Bool {
        waiters.removeValue(forKey: ObjectIdentifier(waiter)) != nil
    }

    /// Removes and returns all waiters.
    package mutating func removeAll() -> [Waiter<Outcome>] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}

extension Locked where State: Sendable {
    /// Waits for an event that resumes all waiters of a list.
    ///
    /// - Parameters:
    ///   - list: The key path of the list in the state.
    ///   - isOver: A closure that returns whether the event has occurred already. It runs under the lock.
    /// - Returns: `false` if the task was cancelled before the event.
    package func wait(
        in list: any WritableKeyPath<State, WaiterList<Bool>> & Sendable,
        unless isOver: (State) -> Bool
    ) async -> Bool {
        let waiter = Waiter<Bool>()
        let mustWait = withLock { state in
            guard !isOver(state) else { return false }
            state[keyPath: list].add(waiter)
            return true
        }
        guard mustWait else { return true }
        return await waiter.outcome {
            withLock { _ = $0[keyPath: list].remove(waiter) }
            return false
        }
    }
}
