#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Hashes that are the same in every run and on every machine, as `Hasher`'s are not.
enum StableHash {
    /// The FNV-1a hash of a text, with its bits mixed once more.
    static func of(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return mix(hash)
    }

    /// Weighted rendezvous hashing: who has the greatest value for a key, serves it.
    ///
    /// A server that leaves moves only the keys that it had, and each server has keys in proportion to its weight.
    static func rendezvous(_ key: UInt64, _ member: UInt64, weight: Double) -> Double {
        // Divided by a negative zero, the negative logarithm would be the greatest number of all.
        log(RandomSource.unit(mix(key ^ mix(member)))) / weight.magnitude
    }

    /// The finisher of SplitMix64.
    static func mix(_ value: UInt64) -> UInt64 {
        var bits = value
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}

/// The core's random numbers: SplitMix64, whose whole state is its seed.
struct RandomSource: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return StableHash.mix(state)
    }

    /// A number in 0..<1.
    mutating func unit() -> Double {
        RandomSource.unit(next())
    }

    static func unit(_ bits: UInt64) -> Double {
        Double(bits >> 11) * 0x1p-53
    }
}
