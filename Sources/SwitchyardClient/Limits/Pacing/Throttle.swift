import SwitchyardServices

/// Lets at most one request of a key go in an interval: the first at once, and of those that come before the interval is
/// over the last one, at its end; the others end as superseded.
///
/// For requests that must all be sent, take a ``RateLimit`` with ``RateRule/interval(_:)``.
public final class Throttle: RequestLimit, PacingLimit {
    private struct Lane {
        var openAt: MonotonicTime
        /// The last one that was let go.
        var gone: RequestID
        var waiting: (id: RequestID, end: @Sendable (RequestFailure.Reason) -> Void)?
    }

    private struct State {
        var lanes: [String: Lane] = [:]
        private var sweepAt = 256

        /// Forgets the keys whose intervals are over; done when there are twice as many as were left the last time.
        mutating func sweep(at now: MonotonicTime) {
            guard lanes.count >= sweepAt else { return }
            lanes = lanes.filter { $0.value.openAt > now || $0.value.waiting != nil }
            sweepAt = max(256, lanes.count * 2)
        }
    }

    /// What becomes of a request.
    private enum Verdict {
        case go
        /// A newer one came before it.
        case late
        case wait(until: MonotonicTime, superseding: (@Sendable (RequestFailure.Reason) -> Void)?)
    }

    private let interval: Duration
    private let key: LimitKey
    private let state = Locked(State())

    /// Creates a throttle.
    ///
    /// - Parameters:
    ///   - interval: How far apart requests of a key begin at least.
    ///   - key: Which requests count together; those of one method and path unless given.
    public init(_ interval: Duration, by key: LimitKey = .endpoint) {
        self.interval = interval
        self.key = key
    }

    /// Waits for the end of the interval; a later round of a request is let go.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard context.round == 1, let key = key(configuration) else { return .free }
        switch arrive(key, context) {
        case .go: return .free
        case .late:
            context.end(.superseded)
            throw CancellationError()
        case .wait(let end, let superseded):
            superseded?(.superseded)
            try await wait(key, context, until: end)
            return .free
        }
    }

    private func wait(_ key: String, _ context: DispatchContext, until end: MonotonicTime) async throws {
        do {
            try await context.time.sleep(until: end)
        } catch {
            // The interval that was to begin with this one begins with the next one.
            leave(key, context.id) { Lane(openAt: end, gone: $0.gone) }
            throw error
        }
        leave(key, context.id) { Lane(openAt: $0.openAt, gone: context.id) }
    }

    /// Takes out who waited, unless another one has taken its place.
    private func leave(_ key: String, _ id: RequestID, _ next: (Lane) -> Lane) {
        state.withLock { state in
            guard let lane = state.lanes[key], lane.waiting?.id == id else { return }
            state.lanes[key] = next(lane)
        }
    }

    private func arrive(_ key: String, _ context: DispatchContext) -> Verdict {
        let now = context.time.now
        return state.withLock { state in
            state.sweep(at: now)
            guard let lane = state.lanes[key], lane.openAt > now else {
                state.lanes[key] = Lane(openAt: now.advanced(by: interval), gone: context.id)
                return .go
            }
            // Rounds come from tasks of their own, and not always in the order of their requests.
            guard lane.waiting?.id ?? lane.gone < context.id else { return .late }
            // The end of the interval is the waiting one's beginning: the next interval counts from there.
            let end = lane.waiting == nil ? lane.openAt : lane.openAt.advanced(by: .zero - interval)
            state.lanes[key] = Lane(
                openAt: end.advanced(by: interval),
                gone: lane.gone,
                waiting: (context.id, context.end)
            )
            return .wait(until: end, superseding: lane.waiting?.end)
        }
    }
}
