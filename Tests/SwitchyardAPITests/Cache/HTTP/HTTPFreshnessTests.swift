import Foundation
import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

@Suite struct HTTPFreshnessTests {
    // RFC 9111 section 4.2.3: the clocks of servers are not trusted, so the whole time that a response took counts.
    @Test(arguments: [[:], ["Age": "20"]] as [HTTPHeaders])
    func `the time between a request and its response counts towards the age of the response`(headers: HTTPHeaders) {
        let requested = Date(timeIntervalSince1970: 1_700_000_000)
        let received = requested.addingTimeInterval(10)
        let stored = HTTPFreshness(
            status: 200,
            headers: headers,
            request: [:],
            requested: requested,
            received: received
        )

        #expect(stored.age(at: received.addingTimeInterval(3)) == (headers.isEmpty ? 13 : 33))
    }
}
