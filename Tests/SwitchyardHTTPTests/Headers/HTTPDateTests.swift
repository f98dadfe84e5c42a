import Foundation
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP

@Suite struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "SUN, 06 nov 1994 08:49:37 gmt",
    ])
    func `the three HTTP date formats denote the same time`(text: String) {
        #expect(HTTPDate.date(exactly: text)?.timeIntervalSince1970 == 784_111_777)
    }

    @Test(arguments: [
        "", "0", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Xyz 1994 08:49:37 GMT", "GMT", ",",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Wed, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 08:49:37 GMT",
        "Sun Nov 6 08:49:37",
    ])
    func `text in any other format is not an HTTP date`(text: String) {
        #expect(HTTPDate.date(exactly: text) == nil)
    }

    @Test func `HTTP dates agree with the calendar over a thousand years`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for year in stride(from: 1600, through: 2600, by: 7) {
            let date = try #require(calendar.date(from: DateComponents(year: year, month: 2 + year % 11, day: 28)))
            let month = ["feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"][year % 11]
            #expect(HTTPDate.date(exactly: "Mon, 28 \(month) \(year) 00:00:00 GMT") == date)
        }
    }

    private static let autumn2026 = Date(timeIntervalSince1970: 1_793_404_800)

    // RFC 9110 section 5.6.7. The weekdays are right for the later year except in the last rows.
    @Test(arguments: [
        ("Sunday, 06-Nov-94", "Sun, 06 Nov 1994"), ("Wednesday, 06-Nov-30", "Wed, 06 Nov 2030"),
        ("Thursday, 15-Oct-76", "Thu, 15 Oct 2076"), ("Monday, 02-Nov-76", "Tue, 02 Nov 1976"),
        ("Monday, 01-Jan-77", "Sat, 01 Jan 1977"), ("Wednesday, 01-Jan-70", "Wed, 01 Jan 2070"),
        ("Thursday, 01-Jan-70", "Thu, 01 Jan 1970"), ("Monday, 01-Jan-70", "Wed, 01 Jan 2070"),
    ])
    func `a two-digit year in an HTTP date is at most 50 years in the future`(text: String, full: String) throws {
        let date = try #require(HTTPDate.date(exactly: "\(full) 08:49:37 GMT"))

        #expect(HTTPDate.date(exactly: "\(text) 08:49:37 GMT", now: Self.autumn2026) == date)
        #expect(HTTPDate.date(from: "\(text) 08:49:37 GMT", now: Self.autumn2026) == date)
    }

    @Test(arguments: [
        ("Sun, 06-Nov-94", 784_111_777.0), ("Sun, 6-Nov-2094", 3_939_871_777.0), ("6 Nov 94", 784_111_777.0),
    ])
    func `date(from:) accepts similar date formats, and date(exactly:) rejects them`(text: String, seconds: Double) {
        let text = "\(text) 08:49:37 GMT"

        #expect(HTTPDate.date(from: text, now: Self.autumn2026)?.timeIntervalSince1970 == seconds)
        #expect(HTTPDate.date(exactly: text, now: Self.autumn2026) == nil)
    }
}
