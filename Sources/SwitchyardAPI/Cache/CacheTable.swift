/// Finds the place of an entry by its key's digest: a table of open addresses, probed one after the other.
///
/// Faster than a dictionary here, since digests are spread evenly already and need not be hashed once more.
struct KeyIndex: Sendable {
    /// A part of the digest, and the place of the entry; free when the place is negative.
    private struct Slot: Sendable {
        var tag: UInt32
        var place: Int32

        static let free = Slot(tag: 0, place: -1)
    }

    private var slots: [Slot] = []
    private var mask = 0
    /// How many entries there are.
    private(set) var count = 0

    /// The places of all entries, in no order.
    var places: [Int32] { slots.compactMap { $0.place < 0 ? nil : $0.place } }

    /// The place of the entry with a digest for which `isWanted` holds; negative when there is none.
    @inline(__always) func place(of digest: Int, where isWanted: (Int32) -> Bool) -> Int32 {
        guard count > 0 else { return -1 }
        let tag = Self.tag(of: digest)
        var index = Int(tag) & mask
        while slots[index].place >= 0 {
            if slots[index].tag == tag, isWanted(slots[index].place) { return slots[index].place }
            index = (index + 1) & mask
        }
        return -1
    }

    /// Enters a place that is not there yet.
    mutating func insert(_ place: Int32, digest: Int) {
        if (count + 1) * 2 > slots.count { grow() }
        put(Slot(tag: Self.tag(of: digest), place: place))
        count += 1
    }

    /// Takes a place out.
    mutating func remove(_ place: Int32, digest: Int) {
        guard count > 0 else { return }
        var hole = Int(Self.tag(of: digest)) & mask
        while slots[hole].place != place {
            guard slots[hole].place >= 0 else { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        // What was pushed on by the entry moves back, so that no search ends at the hole.
        var index = hole
        while true {
            index = (index + 1) & mask
            guard slots[index].place >= 0 else { break }
            let home = Int(slots[index].tag) & mask
            if (index - home) & mask >= (index - hole) & mask {
                slots[hole] = slots[index]
                hole = index
            }
        }
        slots[hole] = .free
    }

    private mutating func put(_ slot: Slot) {
        var index = Int(slot.tag) & mask
        while slots[index].place >= 0 { index = (index + 1) & mask }
        slots[index] = slot
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: .free, count: max(16, old.count * 2))
        mask = slots.count - 1
        for slot in old where slot.place >= 0 { put(slot) }
    }

    /// The upper half, since the lower bits choose the lock.
    private static func tag(of digest: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: UInt(bitPattern: digest) >> UInt(Int.bitWidth / 2))
    }
}
