#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A check whether the system knows a route to a host.
///
/// Nothing is sent to the host, because connecting a datagram socket only looks up the route (POSIX `connect`).
enum HostRoute {
    /// The result of the check for one address.
    enum Finding: Sendable, Hashable {
        case route
        case noRoute
        /// The system gave no information.
        case nothing

        /// Creates the result for an error of a socket or of its connection.
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

    /// Returns the results for the addresses of a host, or `nil` if its name cannot be resolved now.
    ///
    /// The function blocks while the name is resolved.
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

    /// Returns the status of a host.
    ///
    /// The host is reachable if there is a route to one of its addresses. It is unreachable only if there is no route
    /// to any of its addresses.
    ///
    /// - Parameters:
    ///   - findings: The results for the addresses, or `nil` if the name cannot be resolved.
    ///   - network: The status of the network as a whole, from which the kind of link is taken. If the name cannot be
    ///     resolved and the network is unreachable, the host is unreachable. If the name cannot be resolved and the
    ///     network is reachable, the status is unknown.
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
