#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Hashes that, unlike those of `Hasher`, are the same in every run and on every machine.
enum StableHash {
    /// Returns the FNV-1a hash of a text with its bits mixed again.
    static func of(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return RandomSource.mix(hash)
    }

    /// Returns the score of a member for a key in weighted rendezvous hashing: the member with the highest score serves
    /// the key.
    ///
    /// If a server leaves, only its own keys move to other servers. Each server serves keys in proportion to its
    /// weight.
    static func rendezvous(_ key: UInt64, _ member: UInt64, weight: Double) -> Double {
        // `magnitude` turns a weight of -0 into 0, because dividing the negative logarithm by -0 would give the highest
        // score.
        log(RandomSource.unit(RandomSource.mix(key ^ RandomSource.mix(member)))) / weight.magnitude
    }
}
