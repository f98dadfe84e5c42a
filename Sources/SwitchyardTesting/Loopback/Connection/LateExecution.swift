import SwitchyardServices

/// The requests of a loop whose clients have gone and that are executed all the same: a server that has read a request
/// does not know that nobody waits for the response.
///
/// Touched by the loop's thread alone.
struct LateExecutions {
    private var exchanges: [Int: Exchange] = [:]

    /// Keeps an exchange whose connection is lost.
    mutating func add(_ exchange: Exchange) { exchanges[exchange.id.number] = exchange }

    /// Takes an exchange that has ended; `nil` when it is none of these.
    mutating func remove(_ id: ExchangeID) -> Exchange? { exchanges.removeValue(forKey: id.number) }

    /// Takes all exchanges.
    mutating func removeAll() -> [Exchange] {
        defer { exchanges = [:] }
        return Array(exchanges.values)
    }

    /// Takes the exchanges that wait for the end of a fault.
    mutating func removeHeld(while holds: (Int) -> Bool) -> [Exchange] {
        let released = exchanges.values.filter { exchange in
            if case .fault(let fault) = exchange.hold { !holds(fault) } else { false }
        }
        for exchange in released { exchanges[exchange.id.number] = nil }
        return released
    }
}

extension Exchange {
    /// Whether the request is executed although its client has gone: it has been read whole, and its fault wants it.
    var isExecutedLate: Bool {
        guard survivesClient, isRequestComplete, reply == nil, case .handler = action else { return false }
        return task != nil || hold != nil
    }
}

extension EventLoop {
    /// Keeps a request whose client has gone, and executes it when its time comes.
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

    /// Goes on with those whose fault has gone.
    func reconsiderLateExecutions() {
        for exchange in lateExecutions.removeHeld(while: { board.holds($0, at: now) }) {
            exchange.hold = nil
            switch board.effect(for: exchange.head, at: now) {
            case .pause(let fault), .hold(let fault):
                exchange.hold = .fault(fault)
                lateExecutions.add(exchange)
            case .late(let delay), .delay(let delay): schedule(exchange, after: delay)
            // The process has died, or answers without a handler.
            case .reset, .garbage, .answer: board.change { $0.statistics.requestsInProgress -= 1 }
            case .cut, .drip, .wrongLength, nil: run(exchange)
            }
        }
    }

    /// Takes note that a handler has ended whose client has gone.
    func lateExecutionEnded(_ id: ExchangeID) {
        guard lateExecutions.remove(id) != nil else { return }
        board.change { $0.statistics.requestsInProgress -= 1 }
    }

    /// Cancels all handlers whose clients have gone.
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
