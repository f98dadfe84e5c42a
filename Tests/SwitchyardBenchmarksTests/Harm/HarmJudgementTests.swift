import Testing

@testable import SwitchyardBenchmarks

@Suite struct HarmJudgementTests {
    private static let calls = HarmFigures.Calls(count: 1_000, p50: 1, p99: 10, maximum: 20)
    private static let even = HarmFigures(
        all: calls,
        well: calls,
        odd: calls,
        unsent: 0,
        requests: 1_000,
        switches: 0,
        failures: [:]
    )

    /// Returns the marks of measurements that differ by a change from the measurements without switching.
    private static func marks(
        _ limits: HarmLimits = .alike,
        off: HarmFigures = even,
        _ change: (inout HarmFigures) -> Void
    ) -> [String] {
        var figures = off
        change(&figures)
        return HarmJudgement(limits: limits, off: off).marks(of: figures).map(\.text)
    }

    @Test func `measurements are not marked as harmful if switching servers does not change them`() {
        #expect(Self.marks { _ in }.isEmpty)
    }

    @Test func `a call that fails without being sent is marked as harmful`() {
        #expect(Self.marks { $0.unsent = 3 } == ["3 calls failed without being sent"])
    }

    @Test func `a single failed call is marked as harmful if no call fails without switching`() {
        #expect(
            Self.marks { $0.well.failed = 1 } == ["0.10 % of other calls failed, 0.00 % without switching"]
        )
        #expect(Self.marks { $0.odd.failed = 1 } == ["0.10 % of odd calls failed, 0.00 % without switching"])
    }

    @Test(arguments: [(200, false), (260, false), (270, true)])
    func `additional failures are marked as harmful only if chance does not explain them`(
        _ failed: Int,
        _ isMarked: Bool
    ) {
        var off = Self.even
        off.odd.failed = 200

        #expect(Self.marks(off: off) { $0.odd.failed = failed }.isEmpty == !isMarked)
    }

    @Test func `more failures are not marked as harmful if the failure rate of the calls is the same`() {
        var off = Self.even
        off.well.failed = 1_000

        let marks = Self.marks(off: off) { figures in
            figures.well.count = 3_000
            figures.well.failed = 3_000
        }

        #expect(marks.isEmpty)
    }

    @Test func `switching may raise the 99th percentile of call times by ten percent plus two milliseconds`() {
        #expect(Self.marks { $0.well.p99 = 13 }.isEmpty)
        #expect(Self.marks { $0.odd.p99 = 13 }.isEmpty)
        #expect(Self.marks { $0.well.p99 = 13.1 } == ["p99 of other calls 13.1 ms > 1.1 x 10.0 + 2 ms"])
        #expect(Self.marks { $0.odd.p99 = 13.1 } == ["p99 of odd calls 13.1 ms > 1.1 x 10.0 + 2 ms"])
    }

    @Test
    func `with equal servers, switching may send five percent plus ten more requests than clients without switching`() {
        #expect(Self.marks { $0.requests = 1_060 }.isEmpty)
        #expect(Self.marks { $0.requests = 1_061 } == ["1.061 requests per call > 1.05 x 1.000"])
        #expect(Self.marks(HarmLimits()) { $0.requests = 3_000 }.isEmpty)
    }

    @Test func `the limit of additional requests grows with the number of requests that are sent without switching`() {
        var off = Self.even
        off.requests = 2_000

        #expect(Self.marks(off: off) { $0.requests = 2_110 }.isEmpty)
    }

    @Test func `switching may send one more request for each call that succeeds because of switching`() {
        var off = Self.even
        off.all.failed = 100

        let marks = Self.marks(off: off) { figures in
            figures.all.failed = 0
            figures.requests = 1_160
        }

        #expect(marks.isEmpty)
    }

    @Test func `a switch is marked as harmful only if the servers are equal`() {
        #expect(Self.marks { $0.switches = 2 } == ["2 switches between equal servers"])
        #expect(Self.marks(HarmLimits()) { $0.switches = 2 }.isEmpty)
    }

    @Test func `the benchmark adds one mark of harm for each limit that the measurements exceed`() {
        let limits = HarmLimits(wellP99: 9, oddP99: 8, failsNone: true)

        let marks = Self.marks(limits) { $0.all.failed = 2 }

        #expect(
            marks == [
                "2 calls failed, expected none", "p99 of other calls 10.0 ms > 9 ms", "p99 of odd calls 10.0 ms > 8 ms",
            ]
        )
    }

    @Test
    func `a mark of harm that may be due to chance counts only if two benchmark runs find it`() {
        let first = [HarmMark(.wellWait, "1"), HarmMark(.oddWait, "2"), HarmMark(.switches, "3")]
        let second = [HarmMark(.oddWait, "4"), HarmMark(.oddLimit, "5"), HarmMark(.unsent, "6")]

        #expect(first.confirmed(by: second) == [first[1], first[2], second[2]])
    }

    @Test func `a benchmark result may be due to chance only if all of its marks of harm may be due to chance`() {
        #expect([HarmMark(.wellWait, ""), HarmMark(.oddLimit, "")].mayBeChance)
        #expect(![HarmMark(.wellWait, ""), HarmMark(.unsent, "")].mayBeChance)
        #expect(![HarmMark]().mayBeChance)
    }
}
