import SwitchyardServices

/// Those who wait for a place, in the order in which they get one: a pure value.
///
/// The urgent go before others; among those of one priority the owners take turns, so that one who asks for a thousand
/// does not shut another one out; an owner's own requests keep their order. Every ``patience``th place goes to whoever
/// has waited longest, so that the less urgent come to their turn too.
struct FairLine {
    struct Ticket: Hashable {
        let number: UInt64
        let owner: UInt64
        let priority: RequestPriority
    }

    /// How many places are given by rank before one is given by age.
    static let patience = 8

    /// The requests of one owner, the oldest first.
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

    /// The owners of one priority, the next in turn first.
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

    /// How many wait.
    var count: Int { present.count }

    /// How many are in the queues: those who wait, and those who left and have not been cleared away.
    private(set) var keptCount = 0

    mutating func enter(_ ticket: Ticket) {
        present.insert(ticket.number)
        keptCount += 1
        let rank = ticket.priority.rawValue
        if ranks[rank].queues[ticket.owner] == nil { ranks[rank].turns.append(ticket.owner) }
        ranks[rank].queues[ticket.owner, default: Queue()].tickets.append(ticket)
    }

    /// Takes one out who does not want to wait any more; `false` when it was not there.
    mutating func leave(_ number: UInt64) -> Bool {
        guard present.remove(number) != nil else { return false }
        if keptCount > 64, keptCount > present.count * 2 { clearAway() }
        return true
    }

    /// Forgets those who left; done when they are the most, it costs each of them a fixed share.
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

    /// Takes out whose turn it is.
    mutating func next() -> Ticket? {
        guard !present.isEmpty else { return nil }
        given += 1
        let ticket = given.isMultiple(of: Self.patience) ? takeOldest() : takeByRank()
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

    /// The owner's oldest request that still waits; an owner without one is forgotten.
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
