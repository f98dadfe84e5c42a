import SwitchyardServices

/// The observers of a list or a resource, by number.
///
/// The lock of the list or resource protects them.
///
/// Continuations that a method returns must be used after the lock has been released.
struct ChangeListeners: Sendable {
    typealias Continuation = AsyncStream<Void>.Continuation

    private var continuations: [Int: Continuation] = [:]
    private var last = 0
    private var hasEnded = false

    var isEmpty: Bool { continuations.isEmpty }

    var all: [Continuation] { Array(continuations.values) }

    /// Adds an observer and returns its number.
    ///
    /// Returns `nil` if the list or resource has been released and will not change.
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

    /// Removes and returns all observers.
    ///
    /// No observer can be added afterwards.
    mutating func end() -> [Continuation] {
        hasEnded = true
        defer { continuations = [:] }
        return all
    }
}

extension Locked where State: Sendable {
    /// Returns a stream with a signal now and a signal at every change.
    ///
    /// An observer reads the state after each signal. If it is slow, several changes become one signal.
    ///
    /// - Parameter listeners: The key path of the observers in the state.
    /// - Returns: The signals, which end when the owner of the state is released.
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
