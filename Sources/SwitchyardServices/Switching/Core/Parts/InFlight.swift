/// The requests in flight of each server, counted only if the selection compares them.
struct InFlight: Sendable {
    private var counts: [UInt32]

    init(_ rules: CompiledPolicy, count: Int) {
        counts = rules.policy.selection == .lowestLatency ? Array(repeating: 0, count: count) : []
    }

    /// Returns the number of requests in flight of a server.
    func count(of position: Int) -> UInt32 { counts.isEmpty ? 0 : counts[position] }

    mutating func begin(_ position: Int) {
        guard !counts.isEmpty, counts[position] < .max else { return }
        counts[position] += 1
    }

    mutating func end(_ position: Int) {
        guard !counts.isEmpty, counts[position] > 0 else { return }
        counts[position] -= 1
    }

    /// Forgets the requests of a server whose generation has ended, because their ends are not attributed to it.
    mutating func clear(_ position: Int) {
        if !counts.isEmpty { counts[position] = 0 }
    }

    /// Moves the counts to the new positions of the servers; `known` contains the old positions, or `nil` for new
    /// servers.
    mutating func rearrange(_ known: [Int?]) {
        if !counts.isEmpty { counts = known.map { old in old.map { counts[$0] } ?? 0 } }
    }
}
