#if canImport(Darwin)
    public import Darwin
#elseif canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#endif

/// Several pieces of one kind of state, each behind a lock of its own (lock striping): for what many threads use at once.
///
/// A lock and its state lie side by side, on cache lines that no other lock touches, so that threads in different pieces
/// do not slow each other down. What ``Locked`` says of its closure holds here too.
// For `@usableFromInline` and the public import, see Locked.
@usableFromInline package final class LockStripes<State>: @unchecked Sendable {
    // @unchecked is sound: the state of a stripe is only touched between lock and unlock of its mutex, and never escapes
    // by reference. Each stripe of the memory begins with its mutex, followed by its state; both are made in `init`, stay
    // where they are, and are unmade in `deinit`, when nobody can hold a lock any more.
    @usableFromInline let memory: UnsafeMutableRawPointer
    /// How many stripes there are, less one; their number is a power of two, so that the bits of a number choose one.
    @usableFromInline let mask: Int

    /// Creates the pieces.
    ///
    /// - Parameters:
    ///   - count: How many at least; rounded up to a power of two.
    ///   - state: Makes the first state of each.
    package init(_ count: Int, _ state: () -> State) {
        var size = 1
        while size < count { size *= 2 }
        mask = size - 1
        memory = .allocate(byteCount: size * Self.stride, alignment: Self.line)
        for index in indices {
            mutex(index).initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex(index), nil)
            self.state(index).initialize(to: state())
        }
    }

    deinit {
        for index in indices {
            state(index).deinitialize(count: 1)
            pthread_mutex_destroy(mutex(index))
        }
        memory.deallocate()
    }

    /// Numbers that choose each piece once.
    package var indices: ClosedRange<Int> { 0...mask }

    /// Runs `body` with exclusive access to the piece that a number falls to; its lowest bits choose.
    @inlinable package func withLock<Result, Failure: Error>(
        of number: Int,
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let state = lock(number)
        defer { unlock(number) }
        return try body(&state.pointee)
    }

    /// Locks the piece that a number falls to; for generic code, which cannot return a value of the caller's type from
    /// ``withLock(of:_:)`` without asking for its metadata, which takes longer than finding it.
    ///
    /// - Returns: The state, for use until ``unlock(_:)`` only.
    @inlinable package func lock(_ number: Int) -> UnsafeMutablePointer<State> {
        pthread_mutex_lock(mutex(number & mask))
        return state(number & mask)
    }

    /// Unlocks a piece again.
    @inlinable package func unlock(_ number: Int) {
        pthread_mutex_unlock(mutex(number & mask))
    }

    @inlinable func mutex(_ index: Int) -> UnsafeMutablePointer<pthread_mutex_t> {
        (memory + index * Self.stride).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    @inlinable func state(_ index: Int) -> UnsafeMutablePointer<State> {
        (memory + index * Self.stride + Self.offset).assumingMemoryBound(to: State.self)
    }

    /// The size of a cache line of most processors.
    @inlinable static var line: Int { max(64, MemoryLayout<State>.alignment) }

    /// Where the state lies within its stripe.
    @inlinable static var offset: Int {
        let alignment = MemoryLayout<State>.alignment
        return (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
    }

    @inlinable static var stride: Int { (offset + MemoryLayout<State>.size + line - 1) / line * line }
}
