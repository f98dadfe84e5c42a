import SwitchyardClient
import SwitchyardServices

// Whatever changes an entry's place holds the queue's lock, and within it that of the entry's table; readers take that of
// the table alone.

extension ResponseCache {
    /// Removes the value of a key from memory.
    func drop(_ key: CacheKey) {
        if let box = tables.withLock(of: key.spread, { $0.box(of: key) }) { drop(box) }
    }

    /// Removes an entry from memory, unless another has taken its place.
    func drop(_ box: CacheBox) {
        queue.withLock { queue in
            if tables.withLock(of: box.key.spread, { $0.remove(box) }) { queue.remove(box) }
        }
    }

    /// The entry of a key, marked as used; one that has expired goes.
    func box(of key: CacheKey, now: MonotonicTime) -> CacheBox? {
        let box = tables.withLock(of: key.spread) { table in
            let box = table.box(of: key)
            box?.isMarked = true
            return box
        }
        guard let box, box.record.expires <= now else { return box }
        drop(box)
        return nil
    }

    /// Makes room for an entry, and puts it in the place of an older one of its key.
    func insert(_ box: CacheBox, now: MonotonicTime) -> Bool {
        // What goes is released after the lock: its value may be anybody's.
        let gone = queue.withLock { queue -> [CacheBox]? in
            var gone: [CacheBox] = []
            if let old = tables.withLock(of: box.key.spread, { $0.box(of: box.key) }) {
                if old.overtakes(box, now: now) { return nil }
                queue.remove(old)
                gone.append(old)
            }
            makeRoom(in: &queue, for: box.record.facts.cost, now: now, &gone)
            tables.withLock(of: box.key.spread) { $0.store(box) }
            queue.append(box)
            return gone
        }
        return withExtendedLifetime(gone) { gone != nil }
    }

    private func makeRoom(in queue: inout EvictionQueue, for cost: Int, now: MonotonicTime, _ gone: inout [CacheBox]) {
        // Readers may mark again what the hand has passed: after one round it takes what it meets.
        var spared = 0
        while queue.cost > limits.cost - cost || queue.count >= limits.count, let box = queue.next() {
            let goes = tables.withLock(of: box.key.spread) { table in
                if box.isMarked, box.record.expires > now, spared < queue.count {
                    box.isMarked = false
                    return false
                }
                return table.remove(box)
            }
            guard goes else {
                spared += 1
                continue
            }
            queue.remove(box)
            gone.append(box)
        }
    }

    /// Removes the entry of a key if it has expired.
    func dropExpired(_ key: CacheKey, now: MonotonicTime) {
        guard let box = tables.withLock(of: key.spread, { $0.box(of: key) }), box.record.expires <= now else { return }
        drop(box)
    }
}
