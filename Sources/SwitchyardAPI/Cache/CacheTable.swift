/// An open-addressing hash table with linear probing that finds entries by key.
///
/// It is faster than a dictionary here, because the digests are evenly distributed and need no further hashing.
struct CacheTable: Sendable {
    /// For each slot, a part of the digest of its entry, or 0 if the slot is empty.
    ///
    /// The part of a digest is never 0. The array is separate from the entries, because most steps of a search need
    /// only this part and the array fits into the processor's cache.
    private var tags: [UInt32] = []
    private var entries: [CacheBox?] = []
    private var mask: Int { tags.count - 1 }
    private var count = 0

    /// All entries, in no particular order.
    var boxes: [CacheBox] { entries.compactMap(\.self) }

    /// Returns the entry of a key, or `nil` if there is none.
    @inline(__always) func box(of key: CacheKey) -> CacheBox? {
        guard count > 0 else { return nil }
        let tag = Self.tag(of: key)
        var index = home(of: tag)
        while tags[index] != 0 {
            if tags[index] == tag, let box = entries[index], box.key.hasBytes(of: key) { return box }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Stores an entry and replaces an older entry with the same key.
    mutating func store(_ box: CacheBox) {
        if (count + 1) * 4 > tags.count * 3 { grow() }
        let tag = Self.tag(of: box.key)
        var index = home(of: tag)
        while tags[index] != 0 {
            if tags[index] == tag, entries[index]?.key == box.key {
                entries[index] = box
                return
            }
            index = (index + 1) & mask
        }
        tags[index] = tag
        entries[index] = box
        count += 1
    }

    /// Removes an entry unless another entry has replaced it, and returns whether it was removed.
    mutating func remove(_ box: CacheBox) -> Bool {
        guard count > 0 else { return false }
        var index = home(of: Self.tag(of: box.key))
        while entries[index] !== box {
            guard tags[index] != 0 else { return false }
            index = (index + 1) & mask
        }
        count -= 1
        // When the last entry is removed, the memory is released.
        if count == 0 { self = CacheTable() } else { clear(index) }
        return true
    }

    /// Frees a slot.
    ///
    /// If entries in later slots were displaced, moves them back, so that no search stops at the free slot.
    private mutating func clear(_ place: Int) {
        var hole = place
        var index = place
        while true {
            index = (index + 1) & mask
            guard tags[index] != 0 else { break }
            if (index - home(of: tags[index])) & mask >= (index - hole) & mask {
                tags[hole] = tags[index]
                entries.swapAt(hole, index)
                hole = index
            }
        }
        tags[hole] = 0
        entries[hole] = nil
    }

    private mutating func grow() {
        let old = self
        let size = max(16, tags.count * 2)
        tags = [UInt32](repeating: 0, count: size)
        entries = [CacheBox?](repeating: nil, count: size)
        for place in old.tags.indices where old.tags[place] != 0 {
            var index = home(of: old.tags[place])
            while tags[index] != 0 { index = (index + 1) & mask }
            tags[index] = old.tags[place]
            entries[index] = old.entries[place]
        }
    }

    @inline(__always) private func home(of tag: UInt32) -> Int {
        Int(tag >> 1) & mask
    }

    /// The upper half of the digest is used, because its lower bits choose the lock.
    ///
    /// The last bit is set so that the value is never 0.
    @inline(__always) private static func tag(of key: CacheKey) -> UInt32 {
        UInt32(truncatingIfNeeded: UInt(bitPattern: key.spread) >> UInt(Int.bitWidth / 2)) | 1
    }
}
