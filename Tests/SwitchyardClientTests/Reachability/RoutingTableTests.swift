import Testing

@testable import SwitchyardClient

@Suite struct RoutingTableTests {
    private static let names = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"

    @Test func `an active default route over IPv4 makes the network reachable`() {
        let table = Self.names + "eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"

        #expect(RoutingTable.hasDefaultRoute(ipv4: table))
    }

    @Test(arguments: [
        "", "eth0", "eth0\t0002A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0",
        "eth0\t00000000\t0102A8C0\t0002\t0\t0\t100\t00000000\t0\t0\t0",
        "eth0\t00000000\t0102A8C0\t0203\t0\t0\t100\t00000000\t0\t0\t0",
        "lo\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0",
        "eth0\tnonsense\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0", "\u{0}\u{1}\n\t\t\t\t\t\t\t\t",
    ])
    func `an invalid or inactive default route over IPv4 does not make the network reachable`(line: String) {
        #expect(!RoutingTable.hasDefaultRoute(ipv4: Self.names + line + "\n"))
    }

    @Test func `a default route over IPv6 makes the network reachable unless it is the kernel's reject route`() {
        let zeros = String(repeating: "0", count: 32)
        let next = "fe800000000000000000000000000001"
        let good = "\(zeros) 00 \(zeros) 00 \(next) 00000400 00000001 00000000 00000003     eth0\n"
        let refusing = "\(zeros) 00 \(zeros) 00 \(zeros) ffffffff 00000001 00000000 00200200       lo\n"

        #expect(RoutingTable.hasDefaultRoute(ipv6: refusing + good))
        #expect(!RoutingTable.hasDefaultRoute(ipv6: refusing))
        #expect(!RoutingTable.hasDefaultRoute(ipv6: "garbage\n\n"))
    }

    @Test func `if the routing table cannot be read, the reachability is unknown`() {
        #expect(RoutingTable.status(ipv4: nil, ipv6: nil) == .unknown)
        #expect(RoutingTable.status(ipv4: Self.names, ipv6: nil) == .unknown)
        #expect(RoutingTable.status(ipv4: Self.names, ipv6: "") == .notReachable)
        #expect(RoutingTable.status(ipv4: nil, ipv6: nil).isReachable)
    }
}
