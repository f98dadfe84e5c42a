import Foundation
import SwitchyardFixtures
import SwitchyardServices
import Testing

@testable import SwitchyardClient

/// The route to one host by its address or name.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HostRouteTests {
    private func firstStatus(of provider: some ReachabilityProvider) async -> ReachabilityStatus? {
        await provider.updates().first { $0 != .unknown }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `the route check reports this machine as always reachable`(host: String) async {
        let status = await firstStatus(of: SystemReachability(host: host))

        #expect(status?.isReachable == true)
    }

    #if os(Linux)
        @Test func `the route check reports a remote address as reachable exactly if a route leads to it`() throws {
            let table = try String(contentsOfFile: "/proc/net/route", encoding: .utf8)

            let findings = try #require(HostRoute.findings(of: "203.0.113.1"))  // TEST-NET-3, RFC 5737

            #expect(findings == [RoutingTable.hasDefaultRoute(ipv4: table) ? .route : .noRoute])
        }
    #endif

    @Test func `for a host name that cannot be resolved, the route check returns nil`() {
        #expect(HostRoute.findings(of: "no such host.invalid") == nil)
    }

    @Test(arguments: [
        (ENETUNREACH, HostRoute.Finding.noRoute), (EHOSTUNREACH, .noRoute), (EAFNOSUPPORT, .noRoute),
        (EACCES, .nothing),
        (EMFILE, .nothing),
    ])
    func `each errno of a route check either proves that a route is missing or proves nothing`(
        code: Int32,
        finding: HostRoute.Finding
    ) {
        #expect(HostRoute.Finding(errorCode: code) == finding)
    }

    @Test func `a host is reachable over a single route, and the network determines the kind of the route`() {
        let findings = [HostRoute.Finding.noRoute, .nothing, .route]

        #expect(HostRoute.status(findings, network: .reachable(.cellular)) == .reachable(.cellular))
        #expect(HostRoute.status(findings, network: .notReachable) == .reachable(.other))
    }

    @Test func `a host is unreachable only if none of its addresses has a route`() {
        #expect(HostRoute.status([.noRoute, .noRoute], network: .reachable(.local)) == .notReachable)
        #expect(HostRoute.status([.noRoute, .nothing], network: .notReachable) == .unknown)
    }

    @Test func `the reachability of a host name that cannot be resolved is unknown unless the network is unreachable`()
    {
        #expect(HostRoute.status(nil, network: .reachable(.other)) == .unknown)
        #expect(HostRoute.status(nil, network: .unknown) == .unknown)
        #expect(HostRoute.status(nil, network: .notReachable) == .notReachable)
    }
}
