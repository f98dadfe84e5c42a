import Foundation

/// Reads the routing tables that Linux shows as text: a way to the network is a route to everywhere that is up.
enum RoutingTable {
    /// Whether the text of `/proc/net/route` has a default route over IPv4.
    ///
    /// Its columns are interface, destination, gateway, flags and more, hexadecimal, after a line of names. Lines that
    /// are not of this form are passed over.
    static func hasDefaultRoute(ipv4 text: String) -> Bool {
        text.split(separator: "\n").dropFirst().contains { line in
            let columns = line.split { $0 == " " || $0 == "\t" }
            guard columns.count >= 8, columns[0] != "lo",
                let destination = UInt32(columns[1], radix: 16), let flags = UInt32(columns[3], radix: 16),
                let mask = UInt32(columns[7], radix: 16)
            else { return false }
            return destination == 0 && mask == 0 && isUsable(flags)
        }
    }

    /// Whether the text of `/proc/net/ipv6_route` has a default route over IPv6.
    ///
    /// Its columns are destination, its prefix, source, its prefix, next hop, metric, counters, flags and interface.
    static func hasDefaultRoute(ipv6 text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            let columns = line.split { $0 == " " || $0 == "\t" }
            guard columns.count >= 10, columns[9] != "lo", columns[0].allSatisfy({ $0 == "0" }),
                UInt8(columns[1], radix: 16) == 0, let flags = UInt32(columns[8], radix: 16)
            else { return false }
            return isUsable(flags)
        }
    }

    /// Whether a route is up and does not refuse (`RTF_UP`, `RTF_REJECT` of the kernel's `route.h`).
    private static func isUsable(_ flags: UInt32) -> Bool {
        flags & 0x0001 != 0 && flags & 0x0200 == 0
    }

    /// The status that this machine's tables show now.
    static var systemStatus: ReachabilityStatus {
        status(
            ipv4: try? String(contentsOfFile: "/proc/net/route", encoding: .utf8),
            ipv6: try? String(contentsOfFile: "/proc/net/ipv6_route", encoding: .utf8)
        )
    }

    /// The status that the tables show; a table that cannot be read is `nil` and proves nothing.
    static func status(ipv4: String?, ipv6: String?) -> ReachabilityStatus {
        if ipv4.map(hasDefaultRoute(ipv4:)) == true || ipv6.map(hasDefaultRoute(ipv6:)) == true {
            return .reachable(.other)
        }
        return ipv4 == nil || ipv6 == nil ? .unknown : .notReachable
    }
}
