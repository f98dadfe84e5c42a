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
@usableFromInline package struct Locked<State>: @unchecked Sendable {
    // @unchecked is sound: the state is only touched between lock and unlock, and never escapes by reference.
    @usableFromInline let storage: LockedStorage<State>

    /// Creates the lock around its first state.
    @inlinable package init(_ state: sending State) {
        storage = LockedStorage.make(state)
    }

    @usableFromInline init(storage: LockedStorage<State>) {
        self.storage = storage
    }

    /// Finds this for as long as somebody keeps it.
    package var weakly: Weak { Weak(storage: storage) }

    /// Keeps nothing.
    package struct Weak: @unchecked Sendable {
        // @unchecked is sound: the reference is never changed, and what it finds is used through its lock only.
        fileprivate weak var storage: LockedStorage<State>?

        /// What it was made of, while somebody keeps that.
        package var locked: Locked? { storage.map { Locked(storage: $0) } }
    }

    /// Runs `body` with exclusive access to the state.
    @inlinable package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        defer { withExtendedLifetime(storage) {} }
        let mutex = storage.mutex
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&storage.state.pointee)
    }
}

/// The state and, behind it in the same piece of memory, its lock.
///
/// Neither moves for as long as the storage lives, which is what a mutex needs.
@usableFromInline final class LockedStorage<State>: ManagedBuffer<State, pthread_mutex_t> {
    @inlinable static func make(_ state: sending State) -> LockedStorage {
        let storage = unsafeDowncast(create(minimumCapacity: 1) { _ in state }, to: LockedStorage.self)
        pthread_mutex_init(storage.mutex, nil)
        return storage
    }

    @inlinable deinit {
        pthread_mutex_destroy(mutex)
    }

    @inlinable var mutex: UnsafeMutablePointer<pthread_mutex_t> { withUnsafeMutablePointerToElements { $0 } }

    @inlinable var state: UnsafeMutablePointer<State> { withUnsafeMutablePointerToHeader { $0 } }
}
