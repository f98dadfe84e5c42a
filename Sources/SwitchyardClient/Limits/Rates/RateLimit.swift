public import SwitchyardServices

/// A limit of the rate at which requests of one key begin; too early is refused, or waits.
///
///     options.limits = [RateLimit(.bucket(perSecond: 20, burst: 40))]                       // the whole client
///     options.limits = [RateLimit(.interval(.seconds(5)), by: .endpoint, excess: .refuse)]  // every API
///     configuration.limits = [searchLimit]                                                   // one kind of call
///     limit.pause(for: .seconds(30))                                                         // nothing begins for 30 s
///
/// Every round of a request counts. Those who wait can be cancelled like any other request, hold no thread, and leave no
/// gap behind; there is one timer for each key that somebody waits for, and none otherwise.
public final class RateLimit: RequestLimit {
    private struct State {
        var lanes: RateLanes
        var line = WaitingLine<RateLanes.Number>()
        /// The keys for which a timer is set.
        var armed: Set<String> = []
    }

    private let key: LimitKey
    private let state: Locked<State>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - rule: How many requests may begin in what time.
    ///   - key: Which requests count together; all of them unless given.
    ///   - excess: What becomes of one that comes too early; it waits unless told otherwise.
    ///   - maximumWaiting: How many may wait at once, over all keys; others are refused. 1,000 unless given.
    public init(
        _ rule: RateRule,
        by key: LimitKey = .everything,
        excess: RateExcess = .wait,
        maximumWaiting: Int = 1_000
    ) {
        self.key = key
        state = Locked(State(lanes: RateLanes(rule, excess, maximumWaiting: maximumWaiting)))
    }

    /// Lets no request of the limit begin before a time.
    ///
    /// Requests wait or fail as they do when they come too early. A pause that ends before one under way changes nothing.
    ///
    /// - Parameter time: The time, on the client's clock (``NetworkClient/time``, ``DispatchContext/time``).
    public func pause(until time: MonotonicTime) {
        state.withLock { $0.lanes.pause(until: time) }
    }

    /// Lets no request of the limit begin for some time.
    ///
    /// - Parameters:
    ///   - duration: How long.
    ///   - time: The client's clock; the system's by default.
    public func pause(for duration: Duration, on time: any TimeSource = SystemTime.shared) {
        pause(until: time.now.advanced(by: min(max(.zero, duration), .seconds(1_000_000_000))))
    }

    /// How many keys are remembered; one whose time has passed is forgotten when others are looked up.
    public var keyCount: Int { state.withLock { $0.lanes.count } }

    /// How many requests wait.
    public var waitingCount: Int { state.withLock { $0.lanes.waiting } }

    /// Waits for the request's turn.
    ///
    /// - Throws: ``RequestFailure/Reason/rateLimited(retryAfter:)``.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard let key = key(configuration) else { return .free }
        let now = context.time.now
        switch state.withLock({ $0.lanes.arrive(key, at: now, deadline: context.deadline) }) {
        case .go: return .free
        case .refuse(let wait): throw RequestFailure.Reason.rateLimited(retryAfter: wait)
        case .wait(let number): return try await wait(key, number, on: context.time)
        }
    }

    private func wait(_ key: String, _ number: RateLanes.Number, on time: any TimeSource) async throws -> LimitPass {
        let isAdmitted = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: WaitingLine<RateLanes.Number>.Continuation) in
                let answer = state.withLock { state in
                    Task.isCancelled ? false : state.line.enter(number, continuation)
                }
                if let answer { return continuation.resume(returning: answer) }
                turn(key, on: time)
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.lanes.leave(key, number)
                return state.line.leave(number)
            }
            continuation?.resume(returning: false)
        }
        state.withLock { $0.line.forget(number) }
        guard isAdmitted else { throw CancellationError() }
        return .free
    }

    /// Lets go whose turn it is, and sets the timer for the next.
    private func turn(_ key: String, on time: any TimeSource) {
        let (admitted, next) = state.withLock { state in
            let turn = state.lanes.turn(key, at: time.now)
            let isArmed = turn.next == nil || !state.armed.insert(key).inserted
            return (turn.admitted.compactMap { state.line.admit($0) }, isArmed ? nil : turn.next)
        }
        for continuation in admitted { continuation.resume(returning: true) }
        guard let next else { return }
        _ = time.schedule(at: next) { [weak self] in
            self?.state.withLock { _ = $0.armed.remove(key) }
            self?.turn(key, on: time)
        }
    }
}

/// How many requests of one key may begin in what time.
public enum RateRule: Sendable, Hashable {
    /// One, and then none before the time has passed.
    case interval(Duration)
    /// As many as there are tokens: a bucket of `burst` tokens, full at the start, that is refilled with `perSecond`
    /// tokens a second.
    ///
    /// It is counted as the generic cell rate algorithm does (ITU-T I.371), with one number per key.
    case bucket(perSecond: Double, burst: Int)
    /// So many in any span of the length, a sliding one.
    case window(count: Int, per: Duration)
    /// Any number, but for the pauses that ``RateLimit/pause(until:)`` sets.
    case unlimited
}

/// What becomes of a request that comes too early.
public enum RateExcess: Sendable, Hashable {
    /// It fails at once with ``RequestFailure/Reason/rateLimited(retryAfter:)``, which says how long to stay away.
    case refuse
    /// It waits for its turn, first come first served; one that would have to wait longer than given, or than its
    /// deadline allows, fails at once.
    case wait(atMost: Duration?)

    /// It waits for its turn as long as its deadline allows.
    public static let wait = RateExcess.wait(atMost: nil)
}
