/// A list of waiters, each with a number, which its owner protects with a lock.
///
/// A waiter may be admitted or cancelled before its continuation is registered, so both events are recorded. Code that
/// takes a continuation from the list resumes it after releasing the lock.
struct WaitingLine<Number: Hashable & Sendable> {
    typealias Continuation = UnsafeContinuation<Bool, Never>

    private enum Place {
        case waiting(Continuation)
        case admitted
        case left
    }

    private var places: [Number: Place] = [:]

    /// Registers a continuation, or returns the result if the waiter was already admitted or cancelled.
    mutating func enter(_ number: Number, _ continuation: Continuation) -> Bool? {
        switch places.removeValue(forKey: number) {
        case .admitted: return true
        case .left: return false
        case .waiting, nil:
            places[number] = .waiting(continuation)
            return nil
        }
    }

    /// Admits a waiter and returns its continuation to resume, or `nil` if none is registered yet.
    mutating func admit(_ number: Number) -> Continuation? {
        if case .waiting(let continuation) = places.removeValue(forKey: number) { return continuation }
        places[number] = .admitted
        return nil
    }

    /// Removes a cancelled waiter and returns its continuation to resume, or `nil` if it was admitted first or is not
    /// registered yet.
    mutating func leave(_ number: Number) -> Continuation? {
        switch places.removeValue(forKey: number) {
        case .waiting(let continuation): return continuation
        // A waiter that was admitted must take its turn, so that it can release what it was given.
        case .admitted: places[number] = .admitted
        case .left, nil: places[number] = .left
        }
        return nil
    }

    /// Removes all state of a waiter.
    mutating func forget(_ number: Number) {
        places[number] = nil
    }
}
