#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The events for which a descriptor is watched.
struct Interest: OptionSet {
    let rawValue: UInt8
    static let read = Interest(rawValue: 1)
    static let write = Interest(rawValue: 2)
}

/// The events that occurred on a descriptor.
struct Readiness: OptionSet {
    let rawValue: UInt8
    static let readable = Readiness(rawValue: 1)
    static let writable = Readiness(rawValue: 2)
    /// The peer has closed its side, or the connection is broken.
    static let hungUp = Readiness(rawValue: 4)
}

/// Waits for descriptors to become ready with `poll`, which is available on every system.
///
/// The cost of a wake-up is proportional to the number of descriptors, about 50 microseconds for a thousand. Only the
/// event loop's thread uses a poller.
struct Poller {
    private var entries: [pollfd] = []
    private var positions: [Int32: Int] = [:]

    /// Starts to watch a descriptor, or changes the events for which it is watched.
    ///
    /// Hang-ups are always reported.
    mutating func watch(_ descriptor: Int32, for interest: Interest) {
        let events = Self.events(for: interest)
        if let position = positions[descriptor] {
            entries[position].events = events
        } else {
            positions[descriptor] = entries.count
            entries.append(pollfd(fd: descriptor, events: events, revents: 0))
        }
    }

    /// Stops watching a descriptor.
    ///
    /// Must be called before the descriptor is closed.
    mutating func forget(_ descriptor: Int32) {
        guard let position = positions.removeValue(forKey: descriptor) else { return }
        let last = entries.removeLast()
        guard last.fd != descriptor else { return }
        entries[position] = last
        positions[last.fd] = position
    }

    /// Waits up to `milliseconds`, and returns the descriptors that became ready.
    ///
    /// With -1, waits without a limit.
    mutating func wait(milliseconds: Int32) -> [(descriptor: Int32, readiness: Readiness)] {
        var remaining = poll(&entries, nfds_t(entries.count), milliseconds)
        var ready: [(descriptor: Int32, readiness: Readiness)] = []
        for entry in entries where remaining > 0 && entry.revents != 0 {
            ready.append((entry.fd, Self.readiness(of: entry.revents)))
            remaining -= 1
        }
        return ready
    }

    private static func events(for interest: Interest) -> Int16 {
        var events: Int16 = 0
        if interest.contains(.read) { events |= Int16(POLLIN) }
        if interest.contains(.write) { events |= Int16(POLLOUT) }
        #if os(Linux)
            events |= Self.peerClosed
        #endif
        return events
    }

    private static func readiness(of events: Int16) -> Readiness {
        var readiness: Readiness = []
        if events & Int16(POLLIN) != 0 { readiness.insert(.readable) }
        if events & Int16(POLLOUT) != 0 { readiness.insert(.writable) }
        if events & (Int16(POLLHUP) | Int16(POLLERR) | Int16(POLLNVAL) | peerClosed) != 0 {
            readiness.insert(.hungUp)
        }
        return readiness
    }

    #if os(Linux)
        /// POLLRDHUP, which the C headers define only with `_GNU_SOURCE` (`bits/poll.h`).
        private static let peerClosed: Int16 = 0x2000
    #else
        private static let peerClosed: Int16 = 0
    #endif
}
