#if os(Linux)
    import CEpoll
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A set of descriptors with which one thread waits until some of the descriptors are readable.
///
/// On Linux, the cost of a wait does not depend on the number of descriptors. The system call `poll` is not used on
/// Linux: with it, a benchmark server spent half of its time in `poll`, on a processor that the measured process needed
/// too.
struct ReadableSockets: ~Copyable {
    private static let most = 256

    #if os(Linux)
        private let set = epoll_create1(Int32(EPOLL_CLOEXEC))
        private var events = [epoll_event](repeating: epoll_event(), count: most)

        deinit {
            close(set)
        }

        mutating func watch(_ descriptor: Int32) {
            var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: descriptor))
            epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event)
        }

        /// Removes a descriptor from the set.
        ///
        /// Must be called before the descriptor is closed.
        mutating func forget(_ descriptor: Int32) {
            epoll_ctl(set, EPOLL_CTL_DEL, descriptor, nil)
        }

        /// Waits until descriptors are readable and passes each of them to `body`.
        ///
        /// Returns `false` if waiting failed.
        mutating func wait(_ body: (Int32, inout Self) -> Void) -> Bool {
            let count = epoll_wait(set, &events, Int32(Self.most), -1)
            for index in 0..<max(Int(count), 0) { body(events[index].data.fd, &self) }
            return count >= 0
        }
    #else
        private var entries: [pollfd] = []

        mutating func watch(_ descriptor: Int32) {
            entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }

        /// Removes a descriptor from the set.
        ///
        /// Must be called before the descriptor is closed.
        mutating func forget(_ descriptor: Int32) {
            entries.removeAll { $0.fd == descriptor }
        }

        /// Waits until descriptors are readable and passes each of them to `body`.
        ///
        /// Returns `false` if waiting failed.
        mutating func wait(_ body: (Int32, inout Self) -> Void) -> Bool {
            guard poll(&entries, nfds_t(entries.count), -1) >= 0 else { return false }
            for ready in entries where ready.revents != 0 { body(ready.fd, &self) }
            return true
        }
    #endif
}
