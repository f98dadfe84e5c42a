import Foundation

/// A sequence of keys that are requested from a cache, in a pattern that is typical for comparing caches.
struct CacheTrace {
    let name: String
    let keys: Int
    let requests: [Int]

    static var all: [CacheTrace] { [zipf, scans, loop] }

    /// A Zipf distribution: the frequency of the n-th key is proportional to 1/n^0.9, as it is in many services.
    static var zipf: CacheTrace {
        var random = Xorshift(seed: 1)
        return CacheTrace(name: "Zipf 0.9", keys: 100_000, requests: zipf(200_000, of: 100_000, &random))
    }

    /// The Zipf distribution, with a scan of 5,000 keys after every 20,000 requests.
    ///
    /// The keys of a scan are not requested again.
    static var scans: CacheTrace {
        var random = Xorshift(seed: 2)
        var requests: [Int] = []
        for round in 0..<10 {
            requests += zipf(20_000, of: 50_000, &random)
            requests += (0..<5_000).map { 50_000 + round * 5_000 + $0 }
        }
        return CacheTrace(name: "Zipf with scans", keys: 100_000, requests: requests)
    }

    /// A repeated cycle of 1,200 keys, slightly more keys than fit into the cache.
    static var loop: CacheTrace {
        CacheTrace(name: "loop", keys: 1_200, requests: (0..<120_000).map { $0 % 1_200 })
    }

    private static func zipf(_ count: Int, of keys: Int, _ random: inout Xorshift) -> [Int] {
        var sums: [Double] = []
        sums.reserveCapacity(keys)
        var sum = 0.0
        for rank in 1...keys {
            sum += pow(Double(rank), -0.9)
            sums.append(sum)
        }
        return (0..<count).map { _ in
            let wanted = Double.random(in: 0..<sum, using: &random)
            var low = 0
            var high = keys - 1
            while low < high {
                let middle = (low + high) / 2
                if sums[middle] > wanted { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }

    /// Returns the hit ratio of a cache that evicts the oldest entry (FIFO).
    func firstInFirstOut(_ size: Int) -> Double {
        var stored: Set<Int> = []
        var queue: [Int] = []
        var head = 0
        var hits = 0
        for key in requests {
            guard stored.insert(key).inserted else {
                hits += 1
                continue
            }
            queue.append(key)
            if stored.count > size {
                stored.remove(queue[head])
                head += 1
            }
        }
        return Double(hits) / Double(requests.count)
    }

    /// Returns the hit ratio of a cache that evicts the least recently used entry (LRU).
    func leastRecentlyUsed(_ size: Int) -> Double {
        var uses: [Int: Int] = [:]
        var oldest = 0
        var hits = 0
        for (index, key) in requests.enumerated() {
            if uses.updateValue(index, forKey: key) != nil { hits += 1 }
            while uses.count > size {
                // The oldest recorded use evicts its key only if the key was not used again later.
                if uses[requests[oldest]] == oldest { uses[requests[oldest]] = nil }
                oldest += 1
            }
        }
        return Double(hits) / Double(requests.count)
    }

    /// Returns the hit ratio of the optimal cache.
    ///
    /// The optimal cache knows the future requests and evicts the entry that is not needed for the longest time
    /// (Belady, 1966).
    func clairvoyant(_ size: Int) -> Double {
        let next = nextUses
        var due: [Int: Int] = [:]
        var order = FarthestFirst()
        var hits = 0
        for (index, key) in requests.enumerated() {
            if due[key] != nil { hits += 1 }
            due[key] = next[index]
            order.push(next[index], key)
            while due.count > size, let (use, victim) = order.pop() {
                if due[victim] == use { due[victim] = nil }
            }
        }
        return Double(hits) / Double(requests.count)
    }

    private var nextUses: [Int] {
        var next = [Int](repeating: .max, count: requests.count)
        var last: [Int: Int] = [:]
        for index in requests.indices.reversed() {
            next[index] = last[requests[index]] ?? .max - index
            last[requests[index]] = index
        }
        return next
    }
}

/// A heap of keys in which the key whose next use is farthest away comes first.
private struct FarthestFirst {
    private var heap: [(use: Int, key: Int)] = []

    mutating func push(_ use: Int, _ key: Int) {
        heap.append((use, key))
        var child = heap.count - 1
        while child > 0, heap[child].use > heap[(child - 1) / 2].use {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func pop() -> (use: Int, key: Int)? {
        guard let top = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return top }
        heap[0] = last
        var parent = 0
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < heap.count }
            guard let largest = children.max(by: { heap[$0].use < heap[$1].use }), heap[largest].use > heap[parent].use
            else { return top }
            heap.swapAt(parent, largest)
            parent = largest
        }
    }
}

/// A random number generator that yields the same numbers in every run (Marsaglia, "Xorshift RNGs", 2003).
struct Xorshift: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
