#if canImport(Darwin)
    public import Darwin
#elseif canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#endif

/// A value protected by a lock.
///
/// It replaces `Synchronization.Mutex`, which needs macOS 15 and iOS 18, on the older systems that the package
/// supports. Keep the closure short and call no foreign code from it: perform effects after the lock is released.
// `@usableFromInline` and the public import let other modules of the package inline `withLock`. With `package` alone,
// each use would be a call through generic code (Swift 6.3).
@usableFromInline package struct Locked<State>: @unchecked Sendable {
    // `@unchecked Sendable` is sound: the state is accessed only between lock and unlock, and never escapes by
    // reference.
    @usableFromInline let storage: LockedStorage<State>

    /// Creates the lock with its initial state.
    @inlinable package init(_ state: sending State) {
        storage = LockedStorage.make(state)
    }

    @usableFromInline init(storage: LockedStorage<State>) {
        self.storage = storage
    }

    /// A weak reference to the lock and its state.
    package var weakly: Weak { Weak(storage: storage) }

    /// A weak reference to a lock and its state.
    package struct Weak: @unchecked Sendable {
        // `@unchecked Sendable` is sound: the reference is never reassigned, and its target is used only through its
        // lock.
        fileprivate weak var storage: LockedStorage<State>?

        /// The lock, or `nil` if it has been released.
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

/// The state and, after it in the same allocation, its mutex.
///
/// Neither the state nor the mutex moves during the lifetime of the storage, as a mutex requires.
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
