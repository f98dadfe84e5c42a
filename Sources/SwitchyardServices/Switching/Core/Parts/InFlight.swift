/// The number of requests in flight on each server.
struct InFlight: Sendable {
    private var counts: [UInt32]

    /// Creates the counts, or returns `nil` if the selection strategy does not compare requests in flight.
    init?(_ rules: CompiledPolicy, count: Int) {
        guard rules.policy.selection == .lowestLatency else { return nil }
        counts = Array(repeating: 0, count: count)
    }

    /// Returns the number of requests in flight on a server.
    func count(of position: Int) -> UInt32 { counts[position] }

    mutating func begin(_ position: Int) {
        if counts[position] < .max { counts[position] += 1 }
    }

    mutating func end(_ position: Int) {
        if counts[position] > 0 { counts[position] -= 1 }
    }

    /// Forgets the requests in flight on a server whose generation has changed, because the core no longer assigns
    /// their outcomes to the server.
    mutating func clear(_ position: Int) {
        counts[position] = 0
    }

    /// Moves the counts to the new positions of the servers.
    ///
    /// `known` contains the old position of each server, or `nil` for a new server.
    mutating func rearrange(_ known: [Int?]) {
        counts = known.map { old in old.map { counts[$0] } ?? 0 }
    }
}
