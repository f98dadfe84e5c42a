import Foundation
import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransport

@Suite struct NetworkInterfacesTests {
    private static let (up, loopback, running) = (UInt32(IFF_UP), UInt32(IFF_LOOPBACK), UInt32(IFF_RUNNING))

    @Test(arguments: [AF_INET, AF_INET6]) func `an interface that runs and has an address leads away`(family: Int32) {
        #expect(NetworkInterfaces.leadsAway(flags: Self.up | Self.running, family: family))
    }

    @Test(arguments: [up, running, 0, up | running | loopback])
    func `one that is down, has no carrier or is the loopback does not`(flags: UInt32) {
        #expect(!NetworkInterfaces.leadsAway(flags: flags, family: AF_INET))
    }

    @Test(arguments: [AF_UNIX, nil]) func `one without an address of the internet does not`(family: Int32?) {
        #expect(!NetworkInterfaces.leadsAway(flags: Self.up | Self.running, family: family))
    }
}
