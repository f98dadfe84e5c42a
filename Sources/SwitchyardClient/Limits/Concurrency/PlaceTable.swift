import SwitchyardServices

/// The places of a ``ConcurrencyLimit`` and those who wait for one: a pure state machine.
struct PlaceTable {
    /// What becomes of a request that arrives.
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
    /// The servers for which somebody waits, the next in turn first.
    private var turns: [String] = []
    private var lastNumber: UInt64 = 0

    init(total: Int?, perServer: Int?, maximumWaiting: Int) {
        self.total = max(1, total ?? .max)
        self.perServer = max(1, perServer ?? .max)
        self.maximumWaiting = max(0, maximumWaiting)
    }

    /// How many requests have a place, and how many wait for one.
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

    /// Takes one out who does not want to wait any more.
    mutating func withdraw(_ number: UInt64, from server: String) {
        guard sites[server]?.line.leave(number) == true else { return }
        waiting -= 1
        forget(server)
    }

    /// Lets one who waits wait for another server, and gives places away; those who got one, `nil` when it does not wait.
    mutating func move(_ ticket: FairLine.Ticket, from old: String, to server: String) -> [UInt64]? {
        guard sites[old]?.line.leave(ticket.number) == true else { return nil }
        forget(old)
        sites[server, default: Site()].line.enter(ticket)
        if !turns.contains(server) { turns.append(server) }
        return giveAway()
    }

    /// Frees a place and gives places away; those who got one.
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
