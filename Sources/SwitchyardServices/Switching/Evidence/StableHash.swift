#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Hashes that are the same in every run and on every machine, as `Hasher`'s are not.
enum StableHash {
    /// Returns the FNV-1a hash of a text with its bits mixed again.
    static func of(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return RandomSource.mix(hash)
    }

    /// Returns the value of weighted rendezvous hashing: the member with the greatest value serves the key.
    ///
    /// A server that leaves moves only its own keys, and each server has keys in proportion to its weight.
    static func rendezvous(_ key: UInt64, _ member: UInt64, weight: Double) -> Double {
        // Divided by a negative zero, the negative logarithm would be the greatest number of all.
        log(RandomSource.unit(RandomSource.mix(key ^ RandomSource.mix(member)))) / weight.magnitude
    }
}
