import Foundation
import SwitchyardFixtures
import Testing

@testable import SwitchyardHTTP

/// The delay that a server requests by its own clock.
@Suite struct RetryAfterTests {
    /// The device's clock at 12:00:00.
    private static let noon = Date(timeIntervalSince1970: 1_790_942_400)

    private static func text(_ offset: TimeInterval) -> String { HTTPDate.text(for: noon + offset) ?? "" }

    @Test(arguments: [-86_400, -3600, -5, 0, 5, 3600, 86_400] as [TimeInterval])
    func `a Retry-After date is relative to the response's own Date`(_ skew: TimeInterval) {
        let headers: HTTPHeaders = ["Date": Self.text(skew), "Retry-After": Self.text(skew + 30)]

        #expect(RetryAfter.duration(in: headers, now: Self.noon) == .seconds(30))
    }

    @Test func `the Age of a stored response is subtracted from its Retry-After`() {
        let headers: HTTPHeaders = [
            "Date": Self.text(3600), "Age": "10", "Retry-After": Self.text(3630),
        ]

        #expect(RetryAfter.duration(in: headers, now: Self.noon) == .seconds(20))
    }

    @Test(arguments: [nil, "", "yesterday"] as [String?])
    func `without a valid Date, Retry-After is relative to the device's clock`(_ date: String?) {
        var headers: HTTPHeaders = ["Retry-After": Self.text(30)]
        if let date { headers.set("Date", date) }

        #expect(RetryAfter.duration(in: headers, now: Self.noon) == .seconds(30))
    }

    @Test func `a Retry-After in seconds needs no clock, and a date in the past means no delay`() {
        #expect(RetryAfter.duration(in: ["Date": Self.text(9), "Retry-After": "7"], now: Self.noon) == .seconds(7))
        let passed: HTTPHeaders = ["Date": Self.text(3600), "Retry-After": Self.text(3500)]
        #expect(RetryAfter.duration(in: passed, now: Self.noon) == .zero)
    }
}
