#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Asks the system whether it knows a route to a host.
///
/// Nothing is sent to it: connecting a datagram socket only looks the route up (POSIX `connect`).
enum HostRoute {
    /// What one address shows.
    enum Finding: Sendable, Hashable {
        case route
        case noRoute
        /// The system did not say.
        case nothing

        /// What the error of a socket or its connection shows.
        init(errorCode: Int32) {
            switch errorCode {
            case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL, EAFNOSUPPORT: self = .noRoute
            default: self = .nothing
            }
        }
    }

    #if canImport(Glibc)
        private static let datagrams = Int32(SOCK_DGRAM.rawValue)
    #else
        private static let datagrams = SOCK_DGRAM
    #endif

    /// What the addresses of a host show; `nil` when none of its name is known now.
    ///
    /// Blocks while the name is looked up.
    static func findings(of host: String) -> [Finding]? {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = datagrams
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "443", &hints, &first) == 0, let first else { return nil }
        defer { freeaddrinfo(first) }
        var findings: [Finding] = []
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let entry = next {
            findings.append(finding(of: entry.pointee))
            next = entry.pointee.ai_next
        }
        return findings
    }

    private static func finding(of entry: addrinfo) -> Finding {
        let descriptor = socket(entry.ai_family, entry.ai_socktype, 0)
        guard descriptor >= 0 else { return Finding(errorCode: errno) }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 ? .route : Finding(errorCode: errno)
    }

    /// The status that follows: one route is enough, and only addresses without any prove that there is none.
    ///
    /// - Parameters:
    ///   - findings: What the addresses show; `nil` when the name has none.
    ///   - network: The status of the network as a whole, which says of what kind a way is, and counts for a name that
    ///     cannot be looked up: without a network that is no wonder, with one it proves nothing.
    /// - Returns: The status.
    static func status(_ findings: [Finding]?, network: ReachabilityStatus) -> ReachabilityStatus {
        guard let findings else { return network.isReachable ? .unknown : .notReachable }
        if findings.contains(.route) {
            if case .reachable = network { return network }
            return .reachable(.other)
        }
        return findings.contains(.nothing) || findings.isEmpty ? .unknown : .notReachable
    }
}
