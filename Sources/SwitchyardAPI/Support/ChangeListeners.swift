package import SwitchyardServices

/// The observers of a list or a resource, by number.
///
/// If a method returns continuations, the caller uses them after it has released the lock.
package struct ChangeListeners: Sendable {
    package typealias Continuation = AsyncStream<Void>.Continuation

    private var continuations: [Int: Continuation] = [:]
    private var last = 0
    private var hasEnded = false

    /// Creates an empty list.
    package init() {}

    package var isEmpty: Bool { continuations.isEmpty }

    package var all: [Continuation] { Array(continuations.values) }

    /// Adds an observer and returns its number.
    ///
    /// The method returns `nil` if the list or resource has been released and will not change.
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

    /// Removes all observers and accepts no further observers.
    package mutating func end() -> [Continuation] {
        hasEnded = true
        defer { continuations = [:] }
        return all
    }
}

extension Locked where State: Sendable {
    /// Returns a stream with a signal now and a signal at every change.
    ///
    /// - Parameter listeners: The key path to the observers in the state.
    /// - Returns: The signals, which end when the state is released.
    package func signals(to listeners: any WritableKeyPath<State, ChangeListeners> & Sendable) -> AsyncStream<Void> {
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
