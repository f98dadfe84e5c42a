import Foundation
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP

/// The algorithm of RFC 6265 section 5.1.1.
@Suite struct CookieDateTests {
    @Test(arguments: [
        "Sat, 14 Mar 2026 09:26:53 GMT", "Saturday, 14-Mar-26 09:26:53 GMT", "Sat Mar 14 09:26:53 2026",
        "14 Mar 2026 9:26:53", "09:26:53 2026 march 14", "mar/14;2026,09:26:53", "14th Marching 2026AD 09:26:53Z",
        "Sat, 14-MAR-2026\t09:26:53 PST", "[14] {Mar} (2026) 09:26:53",
        "14 Mar 2026 09:26:53.75", "14 Mar 2026 09:26:53:75",
    ])
    func `the day, month, year and time of a cookie date are found in any order and spelling`(text: String) {
        #expect(CookieDate.parse(text)?.timeIntervalSince1970 == 1_773_480_413)
    }

    @Test(arguments: [
        "", "soon", "14 Mar 2026", "09:26:53 14 Mar", "14 2026 09:26:53", "Mar 2026 09:26:53", "32 Mar 2026 09:26:53",
        "0 Mar 2026 09:26:53", "30 Feb 2026 09:26:53", "14 Mar 1600 09:26:53", "14 Mar 20260 09:26:53",
        "14 Mar 2026 24:00:00", "14 Mar 2026 09:60:00", "14 Mar 2026 09:26:60", "14 Mar 2026 09:26",
        "14 Mar 2026 009:26:53", "14 Mär 2026 09:26:53",
    ])
    func `a cookie date with a missing or out-of-range component is invalid`(text: String) {
        #expect(CookieDate.parse(text) == nil)
    }

    @Test(arguments: [("69", 2069), ("00", 2000), ("70", 1970), ("99", 1999), ("1601", 1601)])
    func `a two-digit year in a cookie date is between 1970 and 2069`(digits: String, year: Int) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let date = try #require(CookieDate.parse("5 Jun \(digits) 01:02:03"))

        #expect(calendar.component(.year, from: date) == year)
    }
}
