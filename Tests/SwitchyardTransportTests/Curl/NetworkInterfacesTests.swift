import Foundation
import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransport

@Suite struct NetworkInterfacesTests {
    private static let (up, loopback, running) = (UInt32(IFF_UP), UInt32(IFF_LOOPBACK), UInt32(IFF_RUNNING))

    @Test(arguments: [AF_INET, AF_INET6])
    func `a network interface that is up and has an address is a route to the network`(
        family: Int32
    ) {
        #expect(NetworkInterfaces.leadsAway(flags: Self.up | Self.running, family: family))
    }

    @Test(arguments: [up, running, 0, up | running | loopback])
    func `an interface that is down, has no carrier or is the loopback is not a route`(flags: UInt32) {
        #expect(!NetworkInterfaces.leadsAway(flags: flags, family: AF_INET))
    }

    @Test(arguments: [AF_UNIX, nil]) func `an interface without an internet address is not a route`(family: Int32?) {
        #expect(!NetworkInterfaces.leadsAway(flags: Self.up | Self.running, family: family))
    }
}
