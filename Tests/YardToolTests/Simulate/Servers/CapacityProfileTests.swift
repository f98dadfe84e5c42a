import Testing

@testable import yard

@Suite struct CapacityProfileTests {
    private let cold = CapacityProfile([
        .init(start: 0, rate: 30), .init(start: 180, rate: 10, slope: 1.0 / 3), .init(start: 240, rate: 30),
    ])

    @Test(arguments: [(0.0, 30.0), (100, 30), (180, 10), (210, 20), (300, 30)])
    func `the rate of a capacity profile follows its segments`(time: Double, rate: Double) {
        #expect(abs(cold.rate(at: time) - rate) < 1e-9)
    }

    @Test func `the work of a capacity profile is the area below its rate`() {
        #expect(abs(cold.work(until: 240) - (180 * 30 + 60 * 20)) < 1e-6)
    }

    @Test(arguments: [0.0, 12.5, 179.99, 180, 200, 239, 240, 1000])
    func `the time needed for an amount of work and the work done until a time are inverse functions`(time: Double) {
        #expect(abs(cold.time(ofWork: cold.work(until: time)) - time) < 1e-6)
    }
}
