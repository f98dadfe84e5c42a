import Foundation
import Switchyard

/// The random number generator of the simulation, which yields the same numbers for the same seed on every machine.
struct FleetRandom: RandomNumberGenerator, Sendable {
    private var source: RandomSource

    init(seed: UInt64) {
        source = RandomSource(seed: seed)
    }

    mutating func next() -> UInt64 { source.next() }

    /// Returns a number in 0..<1.
    mutating func unit() -> Double { source.unit() }

    /// Returns an integer in 0..<`bound`.
    mutating func index(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// Returns the time to the next event of a Poisson process in seconds.
    mutating func gap(rate: Double) -> Double {
        -log(1 - unit()) / rate
    }
}
