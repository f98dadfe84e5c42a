import Switchyard
import Testing

@testable import yard

@Suite struct ChoicesTests {
    @Test func `every transport of the help can be chosen`() throws {
        let session = try TransportChoice.make("urlsession")
        defer { session.shutdown() }
        #expect(session is URLSessionTransport)
        #if os(Linux)
            let curl = try TransportChoice.make("curl")
            defer { curl.shutdown() }
            #expect(curl is CurlTransport)
        #endif
    }

    @Test func `another transport is refused`() {
        #expect(throws: UsageError("--transport: expected curl or urlsession, not \"pigeon\"")) {
            try TransportChoice.make("pigeon")
        }
    }

    @Test(arguments: SwitchPolicy.names)
    func `every policy of the help can be chosen`(name: String) {
        #expect(SwitchPolicy.named(name) != nil)
    }
}
