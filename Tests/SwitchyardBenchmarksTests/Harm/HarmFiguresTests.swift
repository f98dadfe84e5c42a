import Testing

@testable import SwitchyardBenchmarks

@Suite struct HarmFiguresTests {
    private static func figures(_ calls: [HarmCall], requests: Int = 0) -> HarmFigures {
        HarmFigures(calls, deadline: .seconds(5), requests: requests, switches: 1)
    }

    @Test func `percentiles use the nearest rank`() {
        let figures = Self.figures((1...200).reversed().map { HarmCall(isOdd: false, milliseconds: Double($0)) })

        #expect(figures.all == HarmFigures.Calls(count: 200, failed: 0, p50: 100, p99: 198, maximum: 200))
    }

    @Test func `a failed call is measured with the full time to its deadline, even if the call failed immediately`() {
        let failed = HarmCall(isOdd: false, milliseconds: 1, failure: "overloaded", isUnsent: true)

        #expect(Self.figures([failed]).all.p99 == 5_000)
        #expect(Self.figures([failed]).unsent == 1)
    }

    @Test func `calls to the endpoint that misbehaves are counted separately from other calls`() {
        let figures = Self.figures(
            [
                HarmCall(isOdd: true, milliseconds: 7, failure: "http500"), HarmCall(isOdd: false, milliseconds: 2),
                HarmCall(isOdd: false, milliseconds: 3),
            ],
            requests: 6
        )

        #expect(figures.well == HarmFigures.Calls(count: 2, failed: 0, p50: 2, p99: 3, maximum: 3))
        #expect(figures.odd == HarmFigures.Calls(count: 1, failed: 1, p50: 5_000, p99: 5_000, maximum: 5_000))
        #expect(figures.failures == ["http500": 1])
        #expect(figures.requestsPerCall == 2)
    }

    @Test func `all measurements are zero if no calls were made`() {
        #expect(Self.figures([]).all == HarmFigures.Calls())
        #expect(Self.figures([]).requestsPerCall == 0)
    }
}
