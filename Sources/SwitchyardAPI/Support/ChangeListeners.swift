import SwitchyardServices

/// Those who are told of every change of a list or a resource, each under a number; kept behind the lock of its owner.
///
/// Whoever takes continuations out uses them after the lock is released.
struct ChangeListeners: Sendable {
    typealias Continuation = AsyncStream<Void>.Continuation

    private var continuations: [Int: Continuation] = [:]
    private var last = 0
    private var hasEnded = false

    var isEmpty: Bool { continuations.isEmpty }

    var all: [Continuation] { Array(continuations.values) }

    /// Tells one more of every change; `nil` when the owner is gone, and nothing will change any more.
    mutating func add(_ continuation: Continuation) -> Int? {
        guard !hasEnded else { return nil }
        last += 1
        continuations[last] = continuation
        return last
    }

    /// Tells one no more.
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
    /// A signal now and one at every change, for one who looks at the state then; of those that a slow reader has not
    /// taken, the newest.
    ///
    /// - Parameter listeners: Where the state keeps those who are told.
    /// - Returns: The signals; they end with the owner of the state.
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
