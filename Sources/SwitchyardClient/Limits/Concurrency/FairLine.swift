import SwitchyardServices

/// A fair queue of waiting requests, as a pure value.
///
/// Requests with a higher priority go first. Among requests of equal priority, the scopes that sent them
/// (``NetworkClient/scoped()``) take turns, so that a scope with a thousand requests does not block another scope. The
/// requests of one scope keep their order. Every eighth slot (``agingInterval``) goes to the request that has waited
/// longest, so that requests of low priority get a slot too.
struct FairLine {
    struct Ticket: Hashable {
        let number: UInt64
        let owner: UInt64
        let priority: RequestPriority
    }

    /// The number of slots of which one is assigned by waiting time instead of by priority.
    static let agingInterval = 8

    /// The requests of one scope, the oldest first.
    private struct Queue {
        var tickets: [Ticket] = []
        var head = 0

        var first: Ticket? { head < tickets.count ? tickets[head] : nil }

        mutating func removeFirst() {
            head += 1
            guard head > 32, head * 2 > tickets.count else { return }
            tickets.removeFirst(head)
            head = 0
        }

        mutating func keep(_ numbers: Set<UInt64>) {
            tickets = tickets[head...].filter { numbers.contains($0.number) }
            head = 0
        }
    }

    /// The scopes that have waiting requests with one priority, in the order of their turns.
    private struct Rank {
        var queues: [UInt64: Queue] = [:]
        var turns: [UInt64] = []

        mutating func forgetEmptyQueues() {
            let queues = queues
            turns.removeAll { queues[$0] == nil }
        }
    }

    private var ranks: [Rank] = [Rank(), Rank(), Rank()]
    private var present: Set<UInt64> = []
    private var given = 0

    /// The number of waiting requests.
    var count: Int { present.count }

    /// The number of queue entries, including those of cancelled requests that have not been removed yet.
    private(set) var keptCount = 0

    mutating func enter(_ ticket: Ticket) {
        present.insert(ticket.number)
        keptCount += 1
        let rank = ticket.priority.rawValue
        if ranks[rank].queues[ticket.owner] == nil { ranks[rank].turns.append(ticket.owner) }
        ranks[rank].queues[ticket.owner, default: Queue()].tickets.append(ticket)
    }

    /// Removes a cancelled request.
    ///
    /// Returns `false` if the request was not in the queue.
    mutating func leave(_ number: UInt64) -> Bool {
        guard present.remove(number) != nil else { return false }
        if keptCount > 64, keptCount > present.count * 2 { clearAway() }
        return true
    }

    /// Removes the entries of cancelled requests.
    ///
    /// This method runs only when more than half of the entries belong to cancelled requests. The average cost per
    /// entry is therefore constant.
    private mutating func clearAway() {
        for rank in ranks.indices {
            ranks[rank].queues = ranks[rank].queues.compactMapValues { queue in
                var queue = queue
                queue.keep(present)
                return queue.first == nil ? nil : queue
            }
            ranks[rank].forgetEmptyQueues()
        }
        keptCount = present.count
    }

    /// Removes and returns the next request.
    mutating func next() -> Ticket? {
        guard !present.isEmpty else { return nil }
        given += 1
        let ticket = given.isMultiple(of: Self.agingInterval) ? takeOldest() : takeByRank()
        if let ticket { present.remove(ticket.number) }
        return ticket
    }

    private mutating func takeByRank() -> Ticket? {
        for rank in ranks.indices.reversed() {
            while let owner = ranks[rank].turns.first {
                ranks[rank].turns.removeFirst()
                guard let ticket = firstPresent(rank, owner) else { continue }
                take(rank, owner)
                if ranks[rank].queues[owner] != nil { ranks[rank].turns.append(owner) }
                return ticket
            }
        }
        return nil
    }

    private mutating func takeOldest() -> Ticket? {
        var oldest: (rank: Int, ticket: Ticket)?
        for rank in ranks.indices {
            for owner in ranks[rank].turns {
                guard let ticket = firstPresent(rank, owner) else { continue }
                if ticket.number < oldest?.ticket.number ?? .max { oldest = (rank, ticket) }
            }
            ranks[rank].forgetEmptyQueues()
        }
        guard let (rank, ticket) = oldest else { return nil }
        take(rank, ticket.owner)
        ranks[rank].forgetEmptyQueues()
        return ticket
    }

    /// Returns the oldest waiting request that was sent through a client handle.
    ///
    /// A handle without waiting requests is removed.
    private mutating func firstPresent(_ rank: Int, _ owner: UInt64) -> Ticket? {
        while let ticket = ranks[rank].queues[owner]?.first {
            if present.contains(ticket.number) { return ticket }
            removeFirst(rank, owner)
        }
        ranks[rank].queues[owner] = nil
        return nil
    }

    private mutating func removeFirst(_ rank: Int, _ owner: UInt64) {
        ranks[rank].queues[owner]?.removeFirst()
        keptCount -= 1
    }

    private mutating func take(_ rank: Int, _ owner: UInt64) {
        removeFirst(rank, owner)
        if ranks[rank].queues[owner]?.first == nil { ranks[rank].queues[owner] = nil }
    }
}
