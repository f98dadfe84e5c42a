import SwitchyardServices

/// The observers of a list or a resource, each under a number; kept behind the lock of the owner.
///
/// Continuations that a method returns are used after the lock is released.
struct ChangeListeners: Sendable {
    typealias Continuation = AsyncStream<Void>.Continuation

    private var continuations: [Int: Continuation] = [:]
    private var last = 0
    private var hasEnded = false

    var isEmpty: Bool { continuations.isEmpty }

    var all: [Continuation] { Array(continuations.values) }

    /// Adds an observer; returns `nil` if the owner has been released and nothing will change any more.
    mutating func add(_ continuation: Continuation) -> Int? {
        guard !hasEnded else { return nil }
        last += 1
        continuations[last] = continuation
        return last
    }

    /// Removes an observer.
    mutating func remove(_ listener: Int) {
        continuations[listener] = nil
    }

    /// Takes all out, for good.
    mutating func end() -> [Continuation] {
        hasEnded = true
        defer { continuations = [:] }
        return all
    }
}

extension Locked where State: Sendable {
    /// Returns a signal now and at every change, for an observer that then reads the state; a slow reader gets the
    /// newest one.
    ///
    /// - Parameter listeners: The key path to the observers in the state.
    /// - Returns: The signals, which end with the owner of the state.
    func signals(to listeners: any WritableKeyPath<State, ChangeListeners> & Sendable) -> AsyncStream<Void> {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        if let number = withLock({ $0[keyPath: listeners].add(continuation) }) {
            continuation.onTermination = { [state = weakly] _ in
                state.locked?.withLock { $0[keyPath: listeners].remove(number) }
            }
        } else {
            continuation.finish()
        }
        return signals
    }
}
