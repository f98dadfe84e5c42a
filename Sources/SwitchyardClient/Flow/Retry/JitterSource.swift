/// The random numbers of one journey (SplitMix64, Steele, Lea and Flood 2014): the same for the same seed.
struct JitterSource: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// The next number from 0 up to, not including, 1.
    mutating func next() -> Double {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return Double((bits ^ (bits >> 31)) >> 11) / Double(1 << 53)
    }
}
