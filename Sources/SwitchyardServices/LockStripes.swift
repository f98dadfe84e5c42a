#if canImport(Darwin)
    public import Darwin
#elseif canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#endif

/// State that is split into stripes, each with its own lock (lock striping), for use by many threads at the same time.
///
/// A lock and its state are adjacent in memory, on cache lines that no other stripe uses, so threads that use different
/// stripes do not slow each other down. As with ``Locked``, keep the closure short and call no foreign code from it.
// `Locked` explains `@usableFromInline` and the public import.
@usableFromInline package final class LockStripes<State>: @unchecked Sendable {
    // `@unchecked Sendable` is sound: the state of a stripe is accessed only between lock and unlock of its mutex, and
    // never escapes by reference. Each stripe starts with its mutex, followed by its state. Both are initialized in
    // `init`, never move, and are destroyed in `deinit`, when no thread can hold a lock any more.
    @usableFromInline let memory: UnsafeMutableRawPointer
    /// The number of stripes minus one, which is a bit mask, because the number of stripes is a power of two.
    @usableFromInline let mask: Int

    /// Creates the stripes.
    ///
    /// - Parameters:
    ///   - count: The minimum number of stripes, rounded up to a power of two.
    ///   - state: Creates the initial state of each stripe.
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

    /// The indices of all stripes.
    package var indices: ClosedRange<Int> { 0...mask }

    /// Runs `body` with exclusive access to the stripe that the lowest bits of `number` select.
    @inlinable package func withLock<Result, Failure: Error>(
        of number: Int,
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let state = lock(number)
        defer { unlock(number) }
        return try body(&state.pointee)
    }

    /// Locks the stripe that the lowest bits of `number` select.
    ///
    /// Generic code calls this method instead of ``withLock(of:_:)``, because a closure that returns a generic value
    /// requires the metadata of its type. Requesting the metadata takes longer than a lookup in the state.
    ///
    /// - Returns: The state, valid only until ``unlock(_:)``.
    @inlinable package func lock(_ number: Int) -> UnsafeMutablePointer<State> {
        pthread_mutex_lock(mutex(number & mask))
        return state(number & mask)
    }

    /// Unlocks the stripe that the lowest bits of `number` select.
    @inlinable package func unlock(_ number: Int) {
        pthread_mutex_unlock(mutex(number & mask))
    }

    @inlinable func mutex(_ index: Int) -> UnsafeMutablePointer<pthread_mutex_t> {
        (memory + index * Self.stride).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    @inlinable func state(_ index: Int) -> UnsafeMutablePointer<State> {
        (memory + index * Self.stride + Self.offset).assumingMemoryBound(to: State.self)
    }

    /// The alignment of a stripe: 64 bytes, the cache line size of most processors, or the alignment of `State` if
    /// greater.
    @inlinable static var line: Int { max(64, MemoryLayout<State>.alignment) }

    /// The offset of the state within its stripe, in bytes.
    @inlinable static var offset: Int {
        let alignment = MemoryLayout<State>.alignment
        return (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
    }

    @inlinable static var stride: Int { (offset + MemoryLayout<State>.size + line - 1) / line * line }
}
