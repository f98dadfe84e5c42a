import Testing

@testable import yard

@Suite struct TroubleWindowTests {
    private let flapping = Trouble.Window(begin: 10, end: 20, cycle: .init(period: 4, bad: 1))

    @Test(arguments: [(9.9, false), (10, true), (10.9, true), (11.1, false), (14.5, true), (18.5, true), (22.5, false)])
    func `a flapping fault in a simulation is active at the beginning of each cycle`(time: Double, isBad: Bool) {
        #expect(flapping.isBad(at: time) == isBad)
    }

    @Test(arguments: [(5, 10), (10, 14), (12, 14), (17.9, 18), (18, nil), (30, nil)] as [(Double, Double?)])
    func `a flapping fault in a simulation begins again at the start of its next cycle`(time: Double, next: Double?) {
        #expect(flapping.nextBegin(after: time) == next)
    }
}
