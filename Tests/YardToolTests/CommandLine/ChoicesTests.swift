import Switchyard
import Testing

@testable import yard

@Suite struct ChoicesTests {
    @Test func `every transport that the help names can be chosen`() throws {
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
    func `every policy that the help names can be chosen`(name: String) {
        #expect(SwitchPolicy.named(name) != nil)
    }
}
