#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The interfaces of this machine, as far as they tell whether it is offline.
enum NetworkInterfaces {
    /// Whether an interface that is up and running, and not the loopback, has an address (`man 3 getifaddrs`).
    ///
    /// Without one no packet leaves the machine. With one nothing is proven. It counts as there when it cannot be asked.
    static var leadAway: Bool {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return true }
        defer { freeifaddrs(first) }
        var next = first
        while let entry = next {
            let family = entry.pointee.ifa_addr?.pointee.sa_family
            if leadsAway(flags: entry.pointee.ifa_flags, family: family.map { Int32($0) }) { return true }
            next = entry.pointee.ifa_next
        }
        return false
    }

    /// Whether an entry shows a way out: `flags` are those of `man 7 netdevice`, `family` that of its address.
    static func leadsAway(flags: UInt32, family: Int32?) -> Bool {
        guard family == AF_INET || family == AF_INET6 else { return false }
        let (up, loopback, running) = (UInt32(0x1), UInt32(0x8), UInt32(0x40))
        return flags & up != 0 && flags & running != 0 && flags & loopback == 0
    }
}
