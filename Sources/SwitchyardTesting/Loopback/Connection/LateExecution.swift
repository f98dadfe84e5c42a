import SwitchyardServices

/// The requests of an event loop that are executed even if their clients have disconnected.
///
/// A real server that has read a request does not know that its client no longer waits for the response. Only the event
/// loop's thread accesses this value.
struct LateExecutions {
    private var exchanges: [Int: Exchange] = [:]

    /// Adds an exchange whose connection is lost.
    mutating func add(_ exchange: Exchange) { exchanges[exchange.id.number] = exchange }

    /// Removes an exchange that has ended and returns it, or returns `nil` if the exchange is not in the collection.
    mutating func remove(_ id: ExchangeID) -> Exchange? { exchanges.removeValue(forKey: id.number) }

    /// Removes and returns all exchanges.
    mutating func removeAll() -> [Exchange] {
        defer { exchanges = [:] }
        return Array(exchanges.values)
    }

    /// Removes and returns the exchanges that are held by a fault that has ended.
    mutating func removeHeld(while holds: (Int) -> Bool) -> [Exchange] {
        let released = exchanges.values.filter { exchange in
            if case .fault(let fault) = exchange.hold { !holds(fault) } else { false }
        }
        for exchange in released { exchanges[exchange.id.number] = nil }
        return released
    }
}

extension Exchange {
    /// Whether the request is executed after its client has disconnected: the request was read completely, and the
    /// fault that the test injects (`pause` or `executesLate`) lets the server execute it without its client.
    var isExecutedLate: Bool {
        guard survivesClient, isRequestComplete, reply == nil, case .handler = action else { return false }
        return task != nil || hold != nil
    }
}

extension EventLoop {
    /// Keeps a request whose client has disconnected, and executes the request when the injected delay or fault has
    /// ended.
    func executeLate(_ exchange: Exchange) {
        guard case .timer = exchange.hold, let due = exchange.dueAt else { return lateExecutions.add(exchange) }
        schedule(exchange, after: max(.zero, now.duration(to: due)))
    }

    private func schedule(_ exchange: Exchange, after delay: Duration) {
        exchange.hold = .timer(
            after(delay) { [unowned self] in
                if let exchange = lateExecutions.remove(exchange.id) { run(exchange) }
            }
        )
        lateExecutions.add(exchange)
    }

    /// Continues the exchanges that were held by a fault, if the fault has ended.
    func reconsiderLateExecutions() {
        for exchange in lateExecutions.removeHeld(while: { board.holds($0, at: now) }) {
            exchange.hold = nil
            switch board.effect(for: exchange.head, at: now) {
            case .pause(let fault), .hold(let fault):
                exchange.hold = .fault(fault)
                lateExecutions.add(exchange)
            case .late(let delay), .delay(let delay): schedule(exchange, after: delay)
            // With these faults, the simulated process has died or responds without a handler, so nothing is executed.
            case .reset, .garbage, .answer: board.change { $0.statistics.requestsInProgress -= 1 }
            case .cut, .drip, .wrongLength, nil: run(exchange)
            }
        }
    }

    /// Records that a handler whose client has disconnected has ended.
    func lateExecutionEnded(_ id: ExchangeID) {
        guard lateExecutions.remove(id) != nil else { return }
        board.change { $0.statistics.requestsInProgress -= 1 }
    }

    /// Cancels all handlers whose clients have disconnected.
    func cancelLateExecutions() {
        for exchange in lateExecutions.removeAll() {
            if case .timer(let token) = exchange.hold { timers.cancel(token) }
            exchange.task?.cancel()
            board.change { $0.statistics.requestsInProgress -= 1 }
        }
    }

    private func run(_ exchange: Exchange) {
        exchange.hold = nil
        let handler = HandlerRun(
            id: exchange.id,
            request: exchange.request,
            action: exchange.action,
            mailbox: mailbox
        )
        exchange.task = handler.start()
        lateExecutions.add(exchange)
    }
}
