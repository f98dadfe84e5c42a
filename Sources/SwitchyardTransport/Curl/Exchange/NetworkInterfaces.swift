#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The network interfaces of this machine.
///
/// The interfaces show whether the machine is offline.
enum NetworkInterfaces {
    /// Whether an interface other than the loopback is up, running, and has an address (`man 3 getifaddrs`).
    ///
    /// If `false`, no packet can leave the machine. If `true`, the network may still be unreachable. If the interfaces
    /// cannot be read, the value is `true`.
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

    /// Returns whether an interface leads to the network.
    ///
    /// `flags` are the flags of `man 7 netdevice`. `family` is the family of the interface's address.
    static func leadsAway(flags: UInt32, family: Int32?) -> Bool {
        guard family == AF_INET || family == AF_INET6 else { return false }
        let (up, loopback, running) = (UInt32(0x1), UInt32(0x8), UInt32(0x40))
        return flags & up != 0 && flags & running != 0 && flags & loopback == 0
    }
}
