import SwitchyardServices

/// Counts the requests of one key against a rule: a pure value, with the time handed in.
struct RateMeter {
    private enum Kind {
        /// One request each `spacing`, with up to `slack` of it taken in advance; `due` is when the next one would come
        /// at an even rate.
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

    /// A duration that can be reckoned with: not negative, and 31 years at most.
    private static func sensible(_ duration: Duration) -> Duration {
        min(max(.zero, duration), .seconds(1_000_000_000))
    }

    /// Takes a place for a request; `false` when it is too early.
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

    /// When a request can begin that lets so many go first; now, if it can.
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

    /// Whether the past plays no part any more.
    func isFresh(at now: MonotonicTime) -> Bool {
        switch kind {
        case .cells(_, _, let due): due <= now
        case .window(_, let span, let times): times.last.map { $0.advanced(by: span) <= now } ?? true
        }
    }
}
