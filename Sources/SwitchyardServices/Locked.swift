#if canImport(Darwin)
    public import Darwin
#elseif canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#endif

/// One piece of state behind one lock.
///
/// `Synchronization.Mutex` needs macOS 15 and iOS 18; this stands in its place on the older systems that the
/// package supports. Keep the closure short and call nothing foreign from it: effects run after the lock is released.
// `@usableFromInline` and the public import let other modules of the package compile `withLock` into their own code; by
// `package` alone each use would be a call through generic code (Swift 6.3).
@usableFromInline package final class Locked<State>: @unchecked Sendable {
    // @unchecked is sound: `state` is only touched between lock and unlock of `mutex`, and never escapes by reference.
    // The lock gives exclusive access, so it need not be checked once more at every use.
    @exclusivity(unchecked) @usableFromInline var state: State
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Creates the lock around its first state.
    @inlinable package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    @inlinable deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the state.
    @inlinable package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
