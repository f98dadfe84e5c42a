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
        return RandomSource.mix(hash)
    }

    /// Weighted rendezvous hashing: who has the greatest value for a key, serves it.
    ///
    /// A server that leaves moves only the keys that it had, and each server has keys in proportion to its weight.
    static func rendezvous(_ key: UInt64, _ member: UInt64, weight: Double) -> Double {
        // Divided by a negative zero, the negative logarithm would be the greatest number of all.
        log(RandomSource.unit(RandomSource.mix(key ^ RandomSource.mix(member)))) / weight.magnitude
    }
}
