import Foundation
import Testing

@testable import SwitchyardAPI

@Suite struct ISO8601Tests {
    @Test(arguments: [
        ("1970-01-01T00:01:00Z", 60.0), ("1970-01-01T00:00:00,25Z", 0.25), ("1970-01-01T00:00:00.5z", 0.5),
        ("1970-01-01T01:00:00+01:00", 0), ("1970-01-01T01:00:00+0100", 0), ("1970-01-01T00:00:00-01", 3_600),
        ("1970-01-01T24:00:00Z", 86_400), ("2016-12-31T23:59:60Z", 1_483_228_800),
        ("2000-02-29T00:00:00Z", 951_782_400),
    ])
    func `a date, a time and a time zone are parsed`(text: String, seconds: Double) {
        #expect(ISO8601.date(text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-04-31T00:00:00Z",
        "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-01-01T25:00:00Z",
        "2024-01-01T24:00:01Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z", "2024-01-01T00:00:00Zx",
        "2024-01-01T00:00:00GMT", "2024-01-01T00:00:00+01:00:30", "2024-01-01T00:00:00+1", "2024-01-01T00:00:00+01:",
        "2024-01-01T00:00:00", "2024-01-01", "",
    ])
    func `an invalid date, time or time zone is rejected`(text: String) {
        #expect(ISO8601.date(text) == nil)
    }
}
