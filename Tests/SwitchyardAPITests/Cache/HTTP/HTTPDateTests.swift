import Foundation
import Testing

@testable import SwitchyardAPI

@Suite struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "SUN, 06 nov 1994 08:49:37 gmt",
    ])
    func `the three forms name one moment`(text: String) {
        #expect(HTTPDate.date(text)?.timeIntervalSince1970 == 784_111_777)
    }

    @Test(arguments: [
        "", "0", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Xyz 1994 08:49:37 GMT", "GMT", ",",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Wed, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 08:49:37 GMT",
        "Sun Nov 6 08:49:37",
    ])
    func `anything else is no date`(text: String) {
        #expect(HTTPDate.date(text) == nil)
    }

    @Test func `dates agree with the calendar over a thousand years`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for year in stride(from: 1600, through: 2600, by: 7) {
            let date = try #require(calendar.date(from: DateComponents(year: year, month: 2 + year % 11, day: 28)))
            let month = ["feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"][year % 11]
            #expect(HTTPDate.date("Mon, 28 \(month) \(year) 00:00:00 GMT") == date)
        }
    }
}
