import SwitchyardHTTP
import SwitchyardServices

/// A limit on the number of requests that run at the same time, in total and per server.
///
/// Further requests wait in a fair order.
///
///     options.limits = [ConcurrencyLimit(total: 32, perServer: 8)]
///
/// Requests with a higher ``APIConfiguration/priority`` go first. Among requests of equal priority, the scopes that
/// sent them (``NetworkClient/scoped()``) take turns, so that an API manager that prefetches a thousand pictures does
/// not block another manager. Every eighth slot goes to the request that has waited longest, so that no request waits
/// forever.
///
/// A request holds a slot for one round: from the time it is sent until it ends or waits for a retry. Failovers and
/// hedges need no slots of their own, because they have budgets. The slot counts for the server that is preferred when
/// the slot is assigned. If another server becomes the preferred one, a waiting request waits for a slot at that
/// server. Servers with the same name in different services or environments are different servers.
///
/// Requests that refresh credentials need no slot, because requests that hold a slot may be waiting for the refresh.
/// Requests that an adapting interceptor sends for a request that holds a slot need no slot of their own either, if
/// they are sent from the interceptor's task or a child task.
///
/// If a response's body is streamed, the round ends with the head of the response. The streamed body holds no slot, so
/// a consumer may read a stream, an event source or a download as slowly as it likes and send other requests meanwhile.
public final class ConcurrencyLimit: RequestLimit {
    private struct State {
        var places: PlaceTable
        /// The waiters of the requests that wait for a slot, by the sequence number of the request.
        var waiters: [UInt64: Waiter<Bool>] = [:]
        /// The queue in which each request waits, by the sequence number of the request.
        var lines: [UInt64: Line] = [:]
        /// The sequence number of the latest move, in which a waiting request goes to the queue of another server.
        var lastMove: UInt64 = 0
    }

    /// The queue in which a request waits: the queue of the server that was preferred last.
    private struct Line {
        var server: String
        /// The sequence number of the latest move of this request, or 0 before the first move.
        var move: UInt64 = 0
    }

    private let state: Locked<State>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - total: The maximum number of requests that run at the same time. If `nil`, there is no limit.
    ///   - perServer: The maximum number of requests that run at the same time at each server. If `nil`, there is no
    ///     limit.
    ///   - maximumWaiting: The maximum number of waiting requests, 10,000 by default. Further requests fail immediately
    ///     with ``RequestFailure/Reason/queueFull``.
    public init(total: Int? = nil, perServer: Int? = nil, maximumWaiting: Int = 10_000) {
        state = Locked(State(places: PlaceTable(total: total, perServer: perServer, maximumWaiting: maximumWaiting)))
    }

    /// The number of requests that hold a slot.
    public var runningCount: Int { state.withLock { $0.places.counts.running } }

    /// The number of waiting requests.
    public var waitingCount: Int { state.withLock { $0.places.counts.waiting } }

    /// Waits for a slot, which is released when the round has ended.
    ///
    /// - Throws: ``RequestFailure/Reason/queueFull``.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard !context.isOfRefresh, !Self.held.contains(ObjectIdentifier(self)) else { return .free }
        let server = context.preferredPlace
        let (owner, priority) = (context.owner, configuration.priority)
        let waiter = Waiter<Bool>()
        let arrival = state.withLock { state in
            let arrival = state.places.arrive(server, owner: owner, priority: priority)
            if case .wait(let number) = arrival {
                state.lines[number] = Line(server: server)
                state.waiters[number] = waiter
            }
            return arrival
        }
        switch arrival {
        case .go: return pass(server)
        case .refuse: throw RequestFailure.Reason.queueFull
        case .wait(let number):
            let ticket = FairLine.Ticket(number: number, owner: owner, priority: priority)
            return try await wait(waiter, for: ticket, context)
        }
    }

    private func wait(
        _ waiter: Waiter<Bool>,
        for ticket: FairLine.Ticket,
        _ context: DispatchContext
    ) async throws -> LimitPass {
        let follow: @Sendable () -> Void = { [self] in move(ticket, with: context) }
        context.whenSwitched(follow)
        // The preferred server may have changed before the handler was set.
        follow()
        let isAdmitted = await waiter.outcome { [self] in !withdraw(ticket.number) }
        context.whenSwitched(nil)
        let server = state.withLock { $0.lines.removeValue(forKey: ticket.number)?.server }
        guard isAdmitted, let server else { throw CancellationError() }
        return pass(server)
    }

    /// Removes a cancelled request.
    ///
    /// - Returns: `false` if the request has already been admitted, so that the caller must release its slot.
    private func withdraw(_ number: UInt64) -> Bool {
        state.withLock { state in
            guard state.waiters.removeValue(forKey: number) != nil else { return false }
            if let server = state.lines[number]?.server { state.places.withdraw(number, from: server) }
            return true
        }
    }

    /// Moves a waiting request to the queue of the server that is preferred now.
    private func move(_ ticket: FairLine.Ticket, with context: DispatchContext) {
        let move = state.withLock { state in
            state.lastMove += 1
            return state.lastMove
        }
        // The preferred server is determined without the lock, because the app's server selector may be called.
        let server = context.preferredPlace
        let admitted = state.withLock { state -> [Waiter<Bool>] in
            // If the preferred server changes twice, the move that began last has seen both changes, so it applies.
            guard let line = state.lines[ticket.number], line.move < move else { return [] }
            state.lines[ticket.number]?.move = move
            guard line.server != server, let admitted = state.places.move(ticket, from: line.server, to: server) else {
                return []
            }
            state.lines[ticket.number]?.server = server
            return admitted.compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in admitted { waiter.resume(returning: true) }
    }

    private func pass(_ server: String) -> LimitPass {
        LimitPass { [self] in
            let admitted = state.withLock { state in
                state.places.leave(server).compactMap { state.waiters.removeValue(forKey: $0) }
            }
            for waiter in admitted { waiter.resume(returning: true) }
        }
    }
}

// MARK: - Requests sent on behalf of a request that holds a slot

extension ConcurrencyLimit {
    /// The limits in which the current task's request holds a slot.
    @TaskLocal private static var held: Set<ObjectIdentifier> = []

    /// Runs a closure on behalf of a request that has passed limits.
    ///
    /// Requests that the closure sends need no slot of their own in these limits.
    static func holding(_ limits: [any RequestLimit], _ body: () async throws -> Void) async throws {
        let places = limits.compactMap { ($0 as? ConcurrencyLimit).map { ObjectIdentifier($0) } }
        guard !places.isEmpty else { return try await body() }
        try await $held.withValue(held.union(places)) { try await body() }
    }
}

extension DispatchContext {
    /// The preferred server with its service and environment, which distinguishes servers of the same name.
    fileprivate var preferredPlace: String {
        "\(service.framed)\(environment.rawValue.framed)\(preferredServer)"
    }
}
