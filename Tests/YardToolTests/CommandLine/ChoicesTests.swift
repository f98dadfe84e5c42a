import Switchyard
import Testing

@testable import yard

@Suite struct ChoicesTests {
    @Test func `every transport in the help can be chosen`() throws {
        let session = try TransportChoice.make("urlsession")
        defer { session.shutdown() }
        #expect(session is URLSessionTransport)
        #if os(Linux)
            let curl = try TransportChoice.make("curl")
            defer { curl.shutdown() }
            #expect(curl is CurlTransport)
        #endif
    }

    @Test func `an unknown transport is rejected`() {
        #expect(throws: UsageError("--transport: expected curl or urlsession, found \"pigeon\"")) {
            try TransportChoice.make("pigeon")
        }
    }

    @Test(arguments: SwitchPolicy.names)
    func `every policy in the help can be chosen`(name: String) {
        #expect(SwitchPolicy.named(name) != nil)
    }
}
