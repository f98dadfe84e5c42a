/// Those who wait for their turn, each under a number; kept behind the lock of its owner.
///
/// A turn may come, and a cancel too, before the one who waits has entered: both are remembered. Whoever takes a
/// continuation out resumes it, after the lock is released.
struct WaitingLine<Number: Hashable & Sendable> {
    typealias Continuation = UnsafeContinuation<Bool, Never>

    private enum Place {
        case waiting(Continuation)
        case admitted
        case left
    }

    private var places: [Number: Place] = [:]

    /// Lets one wait; the answer, when it is there already.
    mutating func enter(_ number: Number, _ continuation: Continuation) -> Bool? {
        switch places.removeValue(forKey: number) {
        case .admitted: return true
        case .left: return false
        case .waiting, nil:
            places[number] = .waiting(continuation)
            return nil
        }
    }

    /// Gives one its turn; the continuation to resume, unless it has not entered yet.
    mutating func admit(_ number: Number) -> Continuation? {
        if case .waiting(let continuation) = places.removeValue(forKey: number) { return continuation }
        places[number] = .admitted
        return nil
    }

    /// Takes one out that was cancelled; the continuation to resume, unless its turn came first.
    mutating func leave(_ number: Number) -> Continuation? {
        switch places.removeValue(forKey: number) {
        case .waiting(let continuation): return continuation
        // Whoever has been given a turn has to take it, to hand back what it brings.
        case .admitted: places[number] = .admitted
        case .left, nil: places[number] = .left
        }
        return nil
    }

    /// Forgets one that waits no more.
    mutating func forget(_ number: Number) {
        places[number] = nil
    }
}
