import Foundation
import Switchyard

/// Random numbers of a world: a stream for drawing it, and single ones that follow from what they are for.
struct WorldRandom: RandomNumberGenerator, Sendable {
    private var source: RandomSource

    /// Begins for a world; worlds with neighbouring numbers have nothing in common.
    init(of world: UInt64) {
        var numbers = RandomSource(seed: world)
        source = RandomSource(seed: numbers.next())
    }

    mutating func next() -> UInt64 { source.next() }

    /// A number in 0..<1.
    mutating func unit() -> Double { source.unit() }

    /// Whether something of this probability happens.
    mutating func happens(_ probability: Double) -> Bool { unit() < probability }

    /// A number from a range, evenly.
    mutating func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit() * (range.upperBound - range.lowerBound)
    }

    /// A number from a range above 0, as often below the geometric mean of its ends as above.
    mutating func scaled(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound * pow(range.upperBound / range.lowerBound, unit())
    }

    /// A whole number from a range above 0, in the same way.
    mutating func scaled(_ range: ClosedRange<Int>) -> Int {
        min(range.upperBound, Int(scaled(Double(range.lowerBound)...Double(range.upperBound + 1))))
    }

    /// One of some, by their weights.
    mutating func pick<Choice>(_ choices: KeyValuePairs<Choice, Double>) -> Choice {
        var rest = unit() * choices.reduce(0) { $0 + $1.value }
        for (choice, weight) in choices {
            rest -= weight
            if rest < 0 { return choice }
        }
        return choices[choices.count - 1].key
    }
}

/// What a single random number of a world is for.
struct WorldDraw: Sendable {
    private let bits: UInt64

    /// Begins with the world and what tells its uses apart.
    init(_ world: UInt64, _ salt: UInt64) {
        bits = Self.mixed(world ^ Self.mixed(salt))
    }

    private init(bits: UInt64) {
        self.bits = bits
    }

    /// The same for one number of many: a call, a server.
    func of(_ number: Int) -> WorldDraw {
        WorldDraw(bits: Self.mixed(bits ^ UInt64(bitPattern: Int64(number))))
    }

    /// The number, in 0..<1.
    var unit: Double { Double(bits >> 11) * 0x1p-53 }

    /// A number from a range.
    func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit * (range.upperBound - range.lowerBound)
    }

    private static func mixed(_ bits: UInt64) -> UInt64 {
        var source = RandomSource(seed: bits)
        return source.next()
    }
}
