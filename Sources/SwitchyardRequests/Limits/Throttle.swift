public import SwitchyardClient
import SwitchyardServices

/// A limit that sends at most one request with the same key per interval.
///
/// The first request is sent immediately. Of the requests that come before the interval is over, only the last request
/// is sent, at the end of the interval. The others fail as superseded. If all requests must be sent, use a
/// ``RateLimit`` with ``RateRule/interval(_:)`` instead.
public final class Throttle: RequestLimit, PacingLimit {
    private struct Lane {
        var openAt: MonotonicTime
        /// The last request that was admitted.
        var gone: RequestID
        var waiting: (id: RequestID, end: @Sendable (RequestFailure.Reason) -> Void)?
    }

    private struct State {
        var lanes: [String: Lane] = [:]
        private var sweepAt = 256

        /// Removes the keys whose intervals are over, if the table has twice as many keys as after the last removal.
        mutating func sweep(at now: MonotonicTime) {
            guard lanes.count >= sweepAt else { return }
            lanes = lanes.filter { $0.value.openAt > now || $0.value.waiting != nil }
            sweepAt = max(256, lanes.count * 2)
        }
    }

    /// The decision about a new request.
    private enum Verdict {
        case go
        /// A request that was created later has already arrived, so this request is superseded.
        case late
        case wait(until: MonotonicTime, superseding: (@Sendable (RequestFailure.Reason) -> Void)?)
    }

    private let interval: Duration
    private let key: LimitKey
    private let state = Locked(State())

    /// Creates a throttle.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between the beginnings of two requests with the same key.
    ///   - key: The key. Requests with the same key are throttled together. By default, the key is the method and path.
    public init(_ interval: Duration, by key: LimitKey = .endpoint) {
        self.interval = interval
        self.key = key
    }

    /// The value is `true`, so a request that continues a transfer does not wait for another interval.
    ///
    /// The transfer has already passed the limit with its first request.
    package var spacesRequests: Bool { true }

    /// Waits for the end of the interval before the request is first sent.
    ///
    /// Retries do not wait again.
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
            // The waiting request was cancelled, so the interval reserved for it is available to the next request.
            leave(key, context.id) { Lane(openAt: end, gone: $0.gone) }
            throw error
        }
        leave(key, context.id) { Lane(openAt: $0.openAt, gone: context.id) }
    }

    /// Replaces the state of a key after its waiting request, `id`, has stopped waiting.
    ///
    /// If a newer request already waits in place of that request, nothing happens.
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
            // Each request arrives in a separate task, so an older request may arrive after a newer request.
            guard lane.waiting?.id ?? lane.gone < context.id else { return .late }
            // If a request already waits, `openAt` is one interval after the planned start of that request. The new
            // request replaces it and starts at the planned time.
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
