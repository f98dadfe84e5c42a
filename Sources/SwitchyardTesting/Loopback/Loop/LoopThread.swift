import Dispatch
import SwitchyardServices

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A thread that runs one closure and whose end can be awaited.
///
/// Foundation's `Thread` cannot be joined, so other code could not know when the thread's stack has been released.
struct LoopThread: @unchecked Sendable {
    // @unchecked is sound: a thread handle is a number or pointer that any thread can pass to `pthread_join`.
    private let handle: pthread_t

    /// Starts the thread.
    init(_ body: @escaping @Sendable () -> Void) throws(LoopbackError) {
        let context = Unmanaged.passRetained(Body(run: body))
        #if canImport(Darwin)
            var created: pthread_t?
            let code = pthread_create(&created, nil, { Body.run($0) }, context.toOpaque())
            guard code == 0, let created else {
                context.release()
                throw .system(call: "pthread_create", code: code)
            }
            handle = created
        #else
            var created = pthread_t()
            let code = pthread_create(&created, nil, { Body.run($0) }, context.toOpaque())
            guard code == 0 else {
                context.release()
                throw .system(call: "pthread_create", code: code)
            }
            handle = created
        #endif
    }

    /// Waits until the thread has ended.
    ///
    /// If called on the thread itself, only detaches the thread's handle.
    func join() {
        if pthread_equal(handle, pthread_self()) != 0 {
            _ = pthread_detach(handle)
        } else {
            _ = pthread_join(handle, nil)
        }
    }

    private final class Body: Sendable {
        private let closure: @Sendable () -> Void

        init(run closure: @escaping @Sendable () -> Void) {
            self.closure = closure
        }

        static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let context else { return nil }
            Unmanaged<Body>.fromOpaque(context).takeRetainedValue().closure()
            return nil
        }
    }
}

/// A latch with which one thread waits for an event on another thread.
final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() {
        semaphore.signal()
    }

    func wait() {
        semaphore.wait()
    }
}

extension MonotonicTime {
    /// The time of the system's monotonic clock.
    static var systemNow: MonotonicTime {
        MonotonicTime(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
    }
}
