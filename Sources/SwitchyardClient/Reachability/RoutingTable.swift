import Foundation

/// A reader of the routing tables that Linux provides as text files.
///
/// A default route that is up means that the network is reachable.
enum RoutingTable {
    /// Returns whether the text of `/proc/net/route` has a default route over IPv4.
    ///
    /// After a line of names, each line has the columns interface, destination, gateway, flags and more, as hexadecimal
    /// numbers. Lines of another form are skipped.
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

    /// Returns whether the text of `/proc/net/ipv6_route` has a default route over IPv6.
    ///
    /// Its columns are destination, destination prefix length, source, source prefix length, next hop, metric,
    /// counters, flags and interface.
    static func hasDefaultRoute(ipv6 text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            let columns = line.split { $0 == " " || $0 == "\t" }
            guard columns.count >= 10, columns[9] != "lo", columns[0].allSatisfy({ $0 == "0" }),
                UInt8(columns[1], radix: 16) == 0, let flags = UInt32(columns[8], radix: 16)
            else { return false }
            return isUsable(flags)
        }
    }

    /// Returns whether a route is up and does not reject packets (`RTF_UP`, `RTF_REJECT` of the kernel's `route.h`).
    private static func isUsable(_ flags: UInt32) -> Bool {
        flags & 0x0001 != 0 && flags & 0x0200 == 0
    }

    /// The status according to this machine's current routing tables.
    static var systemStatus: ReachabilityStatus {
        status(
            ipv4: try? String(contentsOfFile: "/proc/net/route", encoding: .utf8),
            ipv6: try? String(contentsOfFile: "/proc/net/ipv6_route", encoding: .utf8)
        )
    }

    /// Returns the status according to the two tables.
    ///
    /// A table that cannot be read is `nil` and does not count.
    static func status(ipv4: String?, ipv6: String?) -> ReachabilityStatus {
        if ipv4.map(hasDefaultRoute(ipv4:)) == true || ipv6.map(hasDefaultRoute(ipv6:)) == true {
            return .reachable(.other)
        }
        return ipv4 == nil || ipv6 == nil ? .unknown : .notReachable
    }
}
