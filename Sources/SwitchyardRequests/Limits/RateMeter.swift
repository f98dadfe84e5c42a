import SwitchyardServices

/// A meter that counts the requests of one key and applies a rate rule.
///
/// It is a pure value without a clock. Each function receives the time.
struct RateMeter {
    private enum Kind {
        /// One request per `spacing`.
        ///
        /// The value `due` is the time of the next request at an even rate. A request may come up to `slack` earlier.
        case cells(spacing: Duration, slack: Duration, due: MonotonicTime)
        /// The times of the last `count` requests, the oldest first.
        case window(count: Int, span: Duration, times: [MonotonicTime])
    }

    private var kind: Kind

    init(_ rule: RateRule) {
        switch rule {
        case .interval(let interval):
            kind = .cells(spacing: Self.sensible(interval), slack: .zero, due: .zero)
        case .bucket(let rate, let burst):
            let spacing = Duration.seconds(1 / (rate > 1e-6 ? rate : 1e-6))
            kind = .cells(spacing: spacing, slack: spacing * (min(max(1, burst), 1_000_000) - 1), due: .zero)
        case .window(let count, let span):
            kind = .window(count: max(1, count), span: Self.sensible(span), times: [])
        case .unlimited:
            kind = .cells(spacing: .zero, slack: .zero, due: .zero)
        }
    }

    /// Returns the duration clamped to 0 to 31 years, so that calculations with it cannot overflow.
    private static func sensible(_ duration: Duration) -> Duration {
        min(max(.zero, duration), .seconds(1_000_000_000))
    }

    /// Counts a request and returns `true`, or returns `false` if the rate does not allow a request now.
    mutating func take(at now: MonotonicTime) -> Bool {
        guard next(at: now) <= now else { return false }
        switch kind {
        case .cells(let spacing, let slack, let due):
            kind = .cells(spacing: spacing, slack: slack, due: max(due, now).advanced(by: spacing))
        case .window(let count, let span, var times):
            times.append(now)
            times.removeFirst(max(0, times.count - count))
            kind = .window(count: count, span: span, times: times)
        }
        return true
    }

    /// Returns the time at which a request may begin if `others` requests begin before it.
    ///
    /// If the request may begin immediately, returns `now`.
    func next(at now: MonotonicTime, behind others: Int = 0) -> MonotonicTime {
        switch kind {
        case .cells(let spacing, let slack, let due):
            return max(now, max(due, now).advanced(by: spacing * others - slack))
        case .window(let count, let span, let times):
            let missing = times.count + others - count
            guard missing >= 0 else { return now }
            let wait = span * (1 + missing / count)
            let anchor = missing % count
            return anchor < times.count ? max(now, times[anchor].advanced(by: wait)) : now.advanced(by: wait)
        }
    }

    /// Returns whether past requests no longer affect the next request, so that the meter can be discarded.
    func isFresh(at now: MonotonicTime) -> Bool {
        switch kind {
        case .cells(_, _, let due): due <= now
        case .window(_, let span, let times): times.last.map { $0.advanced(by: span) <= now } ?? true
        }
    }
}
