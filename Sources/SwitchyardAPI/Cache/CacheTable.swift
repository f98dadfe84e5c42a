/// An open-addressing hash table with linear probing that finds entries by key.
///
/// It is faster than a dictionary here, because the digests are evenly distributed and need no further hashing.
struct CacheTable: Sendable {
    /// A part of each entry's digest, which is never 0; 0 where there is no entry.
    ///
    /// Apart from the entries, since most steps of a search need no more and a processor's cache has room for it.
    private var tags: [UInt32] = []
    private var entries: [CacheBox?] = []
    private var mask: Int { tags.count - 1 }
    private var count = 0

    /// All entries, in no order.
    var boxes: [CacheBox] { entries.compactMap(\.self) }

    /// The entry of a key.
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

    /// Stores an entry in the place of an older one of its key.
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

    /// Takes an entry out, unless another has taken its place; returns whether it was there.
    mutating func remove(_ box: CacheBox) -> Bool {
        guard count > 0 else { return false }
        var index = home(of: Self.tag(of: box.key))
        while entries[index] !== box {
            guard tags[index] != 0 else { return false }
            index = (index + 1) & mask
        }
        count -= 1
        // Once nothing is left, the memory is given back.
        if count == 0 { self = CacheTable() } else { clear(index) }
        return true
    }

    /// Frees a slot and moves back the entries that were displaced by it, so that no search stops there.
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

    /// The upper half, because the lower bits choose the lock; the last bit is set so that the value is never 0.
    @inline(__always) private static func tag(of key: CacheKey) -> UInt32 {
        UInt32(truncatingIfNeeded: UInt(bitPattern: key.spread) >> UInt(Int.bitWidth / 2)) | 1
    }
}
