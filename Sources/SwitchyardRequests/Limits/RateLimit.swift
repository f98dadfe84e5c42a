public import SwitchyardClient
public import SwitchyardServices

/// A limit of the rate at which requests with the same key begin.
///
/// A request that comes too early waits or is refused.
///
///     options.limits = [RateLimit(.bucket(perSecond: 20, burst: 40))]                       // the whole client
///     options.limits = [RateLimit(.interval(.seconds(5)), by: .endpoint, excess: .refuse)]  // each endpoint
///     configuration.limits = [searchLimit]                                                  // one kind of call
///     limit.pause(for: .seconds(30))                                                        // nothing begins
///
/// Every retry of a request counts as a request. A waiting request occupies no thread and can be cancelled like any
/// other request. A request that is cancelled while it waits does not count. There is one timer for each key that has
/// waiting requests, and none otherwise.
public final class RateLimit: RequestLimit {
    private struct State {
        var lanes: RateLanes
        /// The waiting requests that have not been admitted, by number.
        var waiters: [RateLanes.Number: Waiter<Bool>] = [:]
        /// The keys for which a timer is scheduled.
        var armed: Set<String> = []
    }

    private let key: LimitKey
    private let state: Locked<State>

    /// Creates a rate limit.
    ///
    /// - Parameters:
    ///   - rule: The number of requests with the same key that may begin within a period.
    ///   - key: The key. Requests with the same key count together. By default, all requests have the same key.
    ///   - excess: The handling of a request that comes too early. By default, the request waits.
    ///   - maximumWaiting: The maximum number of waiting requests over all keys, 1,000 by default. Further requests are
    ///     refused.
    public init(
        _ rule: RateRule,
        by key: LimitKey = .everything,
        excess: RateExcess = .wait,
        maximumWaiting: Int = 1_000
    ) {
        self.key = key
        state = Locked(State(lanes: RateLanes(rule, excess, maximumWaiting: maximumWaiting)))
    }

    /// Pauses the limit, so that no request begins before a time.
    ///
    /// A request that comes during the pause waits or is refused, like any request that comes too early. If a longer
    /// pause is already in effect, nothing changes.
    ///
    /// - Parameter time: The end of the pause, on the client's clock (``/SwitchyardClient/NetworkClient/time``,
    ///   ``/SwitchyardClient/DispatchContext/time``).
    public func pause(until time: MonotonicTime) {
        state.withLock { $0.lanes.pause(until: time) }
    }

    /// Pauses the limit for a duration, so that no request begins during that time.
    ///
    /// - Parameters:
    ///   - duration: The duration of the pause.
    ///   - time: The client's clock, by default the system's clock.
    public func pause(for duration: Duration, on time: any TimeSource = SystemTime.shared) {
        pause(until: time.now.advanced(by: min(max(.zero, duration), .seconds(1_000_000_000))))
    }

    /// The number of keys that the limit stores state for.
    ///
    /// The state of a key is removed when its past requests no longer affect new requests. The state is removed when a
    /// later request arrives, whatever its key.
    package var keyCount: Int { state.withLock { $0.lanes.count } }

    /// The number of waiting requests.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Waits until the rate allows the request to begin.
    ///
    /// - Throws: ``/SwitchyardClient/RequestFailure/Reason/rateLimited(retryAfter:)`` if the request is refused.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard let key = key(configuration) else { return .free }
        let now = context.time.now
        let waiter = Waiter<Bool>()
        let arrival = state.withLock { state in
            let arrival = state.lanes.arrive(key, at: now, deadline: context.deadline)
            if case .wait(let number) = arrival { state.waiters[number] = waiter }
            return arrival
        }
        switch arrival {
        case .go: return .free
        case .refuse(let wait): throw RequestFailure.Reason.rateLimited(retryAfter: wait)
        case .wait(let number):
            turn(key, on: context.time)
            let isAdmitted = await waiter.outcome { [self] in leave(key, number) }
            guard isAdmitted else { throw CancellationError() }
            return .free
        }
    }

    /// Removes a waiting request that was cancelled.
    ///
    /// The request does not count against the rate.
    ///
    /// - Returns: `false`, because the request is not admitted.
    private func leave(_ key: String, _ number: RateLanes.Number) -> Bool {
        state.withLock { state in
            state.lanes.leave(key, number)
            state.waiters[number] = nil
        }
        return false
    }

    /// Admits the waiting requests that may begin now, and schedules a timer for the next request.
    private func turn(_ key: String, on time: any TimeSource) {
        let (admitted, next) = state.withLock { state in
            let turn = state.lanes.turn(key, at: time.now)
            let isArmed = turn.next == nil || !state.armed.insert(key).inserted
            return (turn.admitted.compactMap { state.waiters.removeValue(forKey: $0) }, isArmed ? nil : turn.next)
        }
        for waiter in admitted { waiter.resume(returning: true) }
        guard let next else { return }
        _ = time.schedule(at: next) { [weak self] in
            self?.state.withLock { _ = $0.armed.remove(key) }
            self?.turn(key, on: time)
        }
    }
}

/// The number of requests with the same key that may begin within a period.
public enum RateRule: Sendable, Hashable {
    /// At most one request in each interval.
    case interval(Duration)
    /// A bucket of tokens: each request takes one token from it.
    ///
    /// The bucket holds at most `burst` tokens. The bucket is full at the start and refilled with `perSecond` tokens a
    /// second. The implementation is the generic cell rate algorithm (ITU-T I.371), with one number per key.
    case bucket(perSecond: Double, burst: Int)
    /// At most `count` requests in any time span of this length (a sliding window).
    case window(count: Int, per: Duration)
    /// Any number of requests, except during the pauses that ``RateLimit/pause(until:)`` sets.
    case unlimited
}

/// The handling of a request that comes too early.
public enum RateExcess: Sendable, Hashable {
    /// The request fails immediately with ``/SwitchyardClient/RequestFailure/Reason/rateLimited(retryAfter:)``, whose
    /// associated value is the time after which the request could begin.
    case refuse
    /// The request waits for its turn, first come, first served.
    ///
    /// A request that would have to wait longer than `atMost` or beyond its deadline fails immediately.
    case wait(atMost: Duration?)

    /// The request waits for its turn, at most until its deadline.
    public static let wait = RateExcess.wait(atMost: nil)
}
