import SwitchyardServices

/// The slots of a ``ConcurrencyLimit`` and the requests that wait for a slot, as a pure state machine.
struct PlaceTable {
    /// The decision about a new request: whether it is admitted, waits, or is refused.
    enum Arrival: Equatable {
        case go
        case wait(UInt64)
        case refuse
    }

    private struct Site {
        var running = 0
        var line = FairLine()
    }

    private let total: Int
    private let perServer: Int
    private let maximumWaiting: Int
    private var running = 0
    private var waiting = 0
    private var sites: [String: Site] = [:]
    /// The servers that have waiting requests, in the order in which they get the next free slot.
    private var turns: [String] = []
    private var lastNumber: UInt64 = 0

    init(total: Int?, perServer: Int?, maximumWaiting: Int) {
        self.total = max(1, total ?? .max)
        self.perServer = max(1, perServer ?? .max)
        self.maximumWaiting = max(0, maximumWaiting)
    }

    /// The number of requests that hold a slot, and the number of waiting requests.
    var counts: (running: Int, waiting: Int) { (running, waiting) }

    mutating func arrive(_ server: String, owner: UInt64, priority: RequestPriority) -> Arrival {
        let isFirst = sites[server].map { $0.line.count == 0 } ?? true
        if isFirst, hasPlace(at: server), running < total {
            running += 1
            sites[server, default: Site()].running += 1
            return .go
        }
        guard waiting < maximumWaiting else { return .refuse }
        lastNumber += 1
        waiting += 1
        sites[server, default: Site()].line.enter(
            FairLine.Ticket(number: lastNumber, owner: owner, priority: priority)
        )
        if isFirst, !turns.contains(server) { turns.append(server) }
        return .wait(lastNumber)
    }

    /// Removes a waiting request that was cancelled.
    mutating func withdraw(_ number: UInt64, from server: String) {
        guard sites[server]?.line.leave(number) == true else { return }
        waiting -= 1
        forget(server)
    }

    /// Moves a waiting request to another server and assigns free slots.
    ///
    /// Returns the requests that were admitted, or `nil` if the request is not waiting.
    mutating func move(_ ticket: FairLine.Ticket, from old: String, to server: String) -> [UInt64]? {
        guard sites[old]?.line.leave(ticket.number) == true else { return nil }
        forget(old)
        sites[server, default: Site()].line.enter(ticket)
        if !turns.contains(server) { turns.append(server) }
        return giveAway()
    }

    /// Releases a slot, assigns free slots, and returns the requests that were admitted.
    mutating func leave(_ server: String) -> [UInt64] {
        running -= 1
        sites[server]?.running -= 1
        defer { forget(server) }
        return giveAway()
    }

    private mutating func giveAway() -> [UInt64] {
        var admitted: [UInt64] = []
        var tried = 0
        while running < total, tried < turns.count {
            let site = turns.removeFirst()
            turns.append(site)
            guard hasPlace(at: site), let ticket = sites[site]?.line.next() else {
                tried += 1
                continue
            }
            tried = 0
            waiting -= 1
            running += 1
            sites[site]?.running += 1
            admitted.append(ticket.number)
        }
        let sites = sites
        turns.removeAll { sites[$0].map { $0.line.count == 0 } ?? true }
        return admitted
    }

    private func hasPlace(at server: String) -> Bool {
        (sites[server]?.running ?? 0) < perServer
    }

    private mutating func forget(_ server: String) {
        if let site = sites[server], site.running == 0, site.line.count == 0 { sites[server] = nil }
    }
}
