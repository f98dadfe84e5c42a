import Foundation
import Switchyard

/// The random number generator from which a world (a random scenario) is generated.
struct WorldRandom: RandomNumberGenerator, Sendable {
    private var source: RandomSource

    /// Creates the generator for a world.
    ///
    /// The generators of worlds with adjacent numbers are independent of each other.
    init(of world: UInt64) {
        var numbers = RandomSource(seed: world)
        source = RandomSource(seed: numbers.next())
    }

    mutating func next() -> UInt64 { source.next() }

    /// Returns a random number in 0..<1.
    mutating func unit() -> Double { source.unit() }

    /// Returns `true` with this probability.
    mutating func happens(_ probability: Double) -> Bool { unit() < probability }

    /// Returns a uniformly distributed number in a range.
    mutating func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit() * (range.upperBound - range.lowerBound)
    }

    /// Returns a number in a range above 0 whose logarithm is uniformly distributed.
    mutating func scaled(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound * pow(range.upperBound / range.lowerBound, unit())
    }

    /// Returns an integer in a range above 0 whose logarithm is about uniformly distributed.
    mutating func scaled(_ range: ClosedRange<Int>) -> Int {
        min(range.upperBound, Int(scaled(Double(range.lowerBound)...Double(range.upperBound + 1))))
    }

    /// Returns one of the choices, with probabilities in proportion to their weights.
    mutating func pick<Choice>(_ choices: KeyValuePairs<Choice, Double>) -> Choice {
        var rest = unit() * choices.reduce(0) { $0 + $1.value }
        for (choice, weight) in choices {
            rest -= weight
            if rest < 0 { return choice }
        }
        return choices[choices.count - 1].key
    }
}

/// A single random number that depends only on the world (a random scenario) and on the purpose of the number.
struct WorldDraw: Sendable {
    private let bits: UInt64

    /// Creates the number for a world and a salt that identifies the purpose.
    init(_ world: UInt64, _ salt: UInt64) {
        bits = Self.mixed(world ^ Self.mixed(salt))
    }

    private init(bits: UInt64) {
        self.bits = bits
    }

    /// Returns a different random number for each of many objects, such as calls or servers.
    func of(_ number: Int) -> WorldDraw {
        WorldDraw(bits: Self.mixed(bits ^ UInt64(bitPattern: Int64(number))))
    }

    /// The number in 0..<1.
    var unit: Double { Double(bits >> 11) * 0x1p-53 }

    /// Returns a number in a range.
    func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit * (range.upperBound - range.lowerBound)
    }

    private static func mixed(_ bits: UInt64) -> UInt64 {
        var source = RandomSource(seed: bits)
        return source.next()
    }
}
