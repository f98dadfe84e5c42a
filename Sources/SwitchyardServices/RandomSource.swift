/// A seeded random number generator whose sequence is the same in every run and on every machine.
///
/// The algorithm is SplitMix64 (Steele, Lea and Flood, 2014), whose whole state is its seed.
package struct RandomSource: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator with the given seed.
    package init(seed: UInt64) {
        state = seed
    }

    /// Returns the next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return RandomSource.mix(state)
    }

    /// Returns the next random number in 0..<1.
    package mutating func unit() -> Double {
        RandomSource.unit(next())
    }

    /// Converts 64 random bits to a number in 0..<1.
    static func unit(_ bits: UInt64) -> Double {
        Double(bits >> 11) * 0x1p-53
    }

    /// Mixes the bits of a number, as the last step of SplitMix64 does.
    static func mix(_ value: UInt64) -> UInt64 {
        var bits = value
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
