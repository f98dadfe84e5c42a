import SwitchyardHTTP
import SwitchyardServices

/// A limit of how many requests are under way at once, in all and at each server; others wait in a fair order.
///
///     options.limits = [ConcurrencyLimit(total: 32, perServer: 8)]
///
/// The urgent go first (``APIConfiguration/priority``); among equals the scopes of the client take turns, so that a
/// manager that prefetches a thousand pictures does not shut out another one. Every eighth place goes to whoever has
/// waited longest, so that nobody waits for ever.
///
/// A place is held for a round, with its failovers and hedges, which have budgets of their own; it counts for the server
/// that is preferred when it is given; whoever waits while another server becomes the preferred one waits for a place
/// there. Servers of one name in several services or environments are several servers. What a renewal of credentials
/// sends goes without a place, since those who have places may be waiting for it; so does what an adapting interceptor
/// sends, from its own task or a child of it, for a request that has one.
///
/// A round ends with the head of an answer whose body is streamed. What is read of it after that holds no place: who
/// reads a stream, an event source or a download may take as long as he likes, and may send others meanwhile.
public final class ConcurrencyLimit: RequestLimit {
    private struct State {
        var places: PlaceTable
        var line = WaitingLine<UInt64>()
        /// The servers at which those who wait wait for a place.
        var servers: [UInt64: String] = [:]
    }

    private let state: Locked<State>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - total: How many requests are under way at once; any number when `nil`.
    ///   - perServer: How many at each server; any number when `nil`.
    ///   - maximumWaiting: How many may wait; others fail at once with ``RequestFailure/Reason/queueFull``. 10,000 unless
    ///     given.
    public init(total: Int? = nil, perServer: Int? = nil, maximumWaiting: Int = 10_000) {
        state = Locked(State(places: PlaceTable(total: total, perServer: perServer, maximumWaiting: maximumWaiting)))
    }

    /// How many requests have a place.
    public var runningCount: Int { state.withLock { $0.places.counts.running } }

    /// How many requests wait.
    public var waitingCount: Int { state.withLock { $0.places.counts.waiting } }

    /// Waits for a place, which is given back when the round has ended.
    ///
    /// - Throws: ``RequestFailure/Reason/queueFull``.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard !context.isOfRenewal, !Self.held.contains(ObjectIdentifier(self)) else { return .free }
        let server = context.preferredPlace
        let (owner, priority) = (context.owner, configuration.priority)
        let arrival = state.withLock { state in
            let arrival = state.places.arrive(server, owner: owner, priority: priority)
            if case .wait(let number) = arrival { state.servers[number] = server }
            return arrival
        }
        switch arrival {
        case .go: return pass(server)
        case .refuse: throw RequestFailure.Reason.queueFull
        case .wait(let number):
            return try await wait(FairLine.Ticket(number: number, owner: owner, priority: priority), context)
        }
    }

    private func wait(_ ticket: FairLine.Ticket, _ context: DispatchContext) async throws -> LimitPass {
        let number = ticket.number
        let follow: @Sendable () -> Void = { [self] in move(ticket, with: context) }
        context.whenSwitched(follow)
        // Another server may have become the preferred one before this was heard of.
        follow()
        let isAdmitted = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: WaitingLine<UInt64>.Continuation) in
                let answer = state.withLock { $0.line.enter(number, continuation) }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                if let server = state.servers[number] { state.places.withdraw(number, from: server) }
                return state.line.leave(number)
            }
            continuation?.resume(returning: false)
        }
        context.whenSwitched(nil)
        let server = state.withLock { state in
            state.line.forget(number)
            return state.servers.removeValue(forKey: number)
        }
        guard isAdmitted, let server else { throw CancellationError() }
        return pass(server)
    }

    /// Lets one who waits for a place wait for one at the server that is preferred now.
    private func move(_ ticket: FairLine.Ticket, with context: DispatchContext) {
        let admitted = state.withLock { state -> [WaitingLine<UInt64>.Continuation] in
            // Asked for within the lock: of two who come after two switches the later one has the last word.
            let server = context.preferredPlace
            guard let old = state.servers[ticket.number], old != server,
                let admitted = state.places.move(ticket, from: old, to: server)
            else { return [] }
            state.servers[ticket.number] = server
            return admitted.compactMap { state.line.admit($0) }
        }
        for continuation in admitted { continuation.resume(returning: true) }
    }

    private func pass(_ server: String) -> LimitPass {
        LimitPass { [self] in
            let admitted = state.withLock { state in
                state.places.leave(server).compactMap { state.line.admit($0) }
            }
            for continuation in admitted { continuation.resume(returning: true) }
        }
    }
}

// MARK: - What is sent for a request that has a place

extension ConcurrencyLimit {
    /// The limits in which the request has a place for which the present task works.
    @TaskLocal private static var held: Set<ObjectIdentifier> = []

    /// Works for a request that has passed limits: what is sent meanwhile waits for no other place in them.
    static func holding(_ limits: [any RequestLimit], _ body: () async throws -> Void) async throws {
        let places = limits.compactMap { ($0 as? ConcurrencyLimit).map { ObjectIdentifier($0) } }
        guard !places.isEmpty else { return try await body() }
        try await $held.withValue(held.union(places)) { try await body() }
    }
}

extension DispatchContext {
    /// The server that is preferred now, told apart from those of the same name elsewhere.
    fileprivate var preferredPlace: String {
        "\(service.framed)\(environment.rawValue.framed)\(preferredServer)"
    }
}
