import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

/// Invalid or unusual freshness fields of responses.
@Suite struct OddFreshnessFieldTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private static func reuse(_ headers: HTTPHeaders) -> HTTPCacheRules.Reuse {
        let stored = HTTPFreshness(status: 200, headers: headers, request: [:], requested: now, received: now)
        return HTTPCacheRules.reuse(stored, for: [:], now: now.addingTimeInterval(3))
    }

    // RFC 9111 section 4.2.1: with two `Expires` fields, either the first one counts or the response is stale. The
    // suite cache-tests expects a stale response (freshness-expires-invalid-multiple-lines, from memory).
    @Test(arguments: ["Thu, 18 Aug 2050 02:01:19 GMT", "Thu, 18 Aug 2050 02:01:18 GMT", "0"])
    func `a response with two Expires fields counts as stale`(second: String) {
        var headers: HTTPHeaders = ["Date": HTTPDate.text(for: Self.now) ?? ""]
        headers.add("Expires", "Thu, 18 Aug 2050 02:01:18 GMT")
        headers.add("Expires", second)

        #expect(Self.reuse(headers) == HTTPCacheRules.Reuse.none)
    }

    // RFC 9111 section 5.1: a value that is not a number is ignored, also if it contains a space.
    @Test(arguments: ["7 200", "7\t200", "72 00, 0"])
    func `an Age field with a space inside its number is ignored`(age: String) {
        #expect(Self.reuse(["Cache-Control": "max-age=3600", "Age": age]) == .fresh)
    }

    @Test(arguments: ["7200", " 7200 , 0", "7200,"])
    func `spaces around the number in an Age field are ignored`(age: String) {
        #expect(Self.reuse(["Cache-Control": "max-age=3600", "Age": age]) == HTTPCacheRules.Reuse.none)
    }

    // RFC 9111 section 5.2.1.1: the client does not accept an age that is greater than the number.
    @Test func `a stored response is reused for a request whose max-age equals the age of the response`() {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=3600", "Age": "0"]
        let stored = HTTPFreshness(
            status: 200,
            headers: headers,
            request: [:],
            requested: Self.now,
            received: Self.now
        )
        func reuse(allowing age: Int) -> HTTPCacheRules.Reuse {
            let request: HTTPHeaders = ["Cache-Control": "max-age=\(age)"]
            return HTTPCacheRules.reuse(stored, for: request, now: Self.now.addingTimeInterval(3))
        }

        #expect(reuse(allowing: 3) == .fresh)
        #expect(reuse(allowing: 2) == HTTPCacheRules.Reuse.none)
    }
}
