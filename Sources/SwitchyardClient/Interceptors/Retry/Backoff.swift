import SwitchyardServices

/// The pauses before retries.
///
///     retry                                     1       2       3       4       5
///     constant(1 s)                             1       1       1       1       1
///     linear(1 s)                               1       2       3       4       5
///     exponential(base: 1 s, cap: 10 s)         1       2       4       8      10
///       with full jitter: a random value between 0 and the pause above
///
/// Full jitter is the default, because with a fixed pause all clients that failed together retry together (M. Brooker,
/// "Exponential Backoff And Jitter", AWS 2015).
public struct Backoff: Sendable, Hashable {
    /// The growth of the pause from retry to retry.
    public enum Growth: Sendable, Hashable {
        /// The pause stays the same.
        case constant
        /// The pause is the base times the number of the retry.
        case linear
        /// The pause is multiplied by a factor for every retry after the first.
        case exponential(factor: Double)
    }

    /// The random variation of the pause.
    public enum Jitter: Sendable, Hashable {
        /// No variation.
        case none
        /// A random value between zero and the pause.
        case full
        /// A random value around the pause. It differs from the pause by at most this fraction of the pause.
        case spread(Double)
    }

    /// The pause before the first retry.
    package var base: Duration
    /// The growth of the pause.
    package var growth: Growth
    /// The maximum pause, or `nil` for no maximum.
    package var cap: Duration?
    /// The jitter of the pause, full by default.
    package var jitter: Jitter

    /// Creates a backoff.
    public init(base: Duration, growth: Growth, cap: Duration? = nil, jitter: Jitter = .full) {
        self.base = base
        self.growth = growth
        self.cap = cap
        self.jitter = jitter
    }

    /// Returns a backoff with the same pause before every retry, by default without jitter.
    public static func constant(_ base: Duration, jitter: Jitter = .none) -> Backoff {
        Backoff(base: base, growth: .constant, jitter: jitter)
    }

    /// Returns a backoff whose pause grows by the base with each retry, by default without a maximum and without
    /// jitter.
    public static func linear(_ base: Duration, cap: Duration? = nil, jitter: Jitter = .none) -> Backoff {
        Backoff(base: base, growth: .linear, cap: cap, jitter: jitter)
    }

    /// Returns a backoff whose pause grows by a factor, by default from 0.5 s, doubled each time up to 20 s, with full
    /// jitter.
    public static func exponential(
        base: Duration = .milliseconds(500),
        factor: Double = 2,
        cap: Duration? = .seconds(20),
        jitter: Jitter = .full
    ) -> Backoff {
        Backoff(base: base, growth: .exponential(factor: factor), cap: cap, jitter: jitter)
    }

    /// Returns the pause before a retry.
    ///
    /// - Parameters:
    ///   - retry: The number of the retry, counted from 1. A lower number counts as 1.
    ///   - random: A number from 0 to 1 that selects the pause within its jitter.
    /// - Returns: The pause, which is never negative, never above the cap and at most 292 years.
    package func delay(beforeRetry retry: Int, random: Double) -> Duration {
        let number = Double(max(1, retry))
        let growth =
            switch growth {
            case .constant: 1.0
            case .linear: number
            case .exponential(let factor): Self.power(factor, number - 1)
            }
        let longest = min(cap?.inSeconds ?? Self.longest, Self.longest)
        let plain = min(max(0, base.inSeconds * growth), longest)
        let share = min(max(0, random), 1)
        let scattered =
            switch jitter {
            case .none: plain
            case .full: plain * share
            case .spread(let fraction): plain * (1 + fraction * (2 * share - 1))
            }
        return .seconds(min(max(0, scattered), longest))
    }

    /// The invalid value of the backoff, or `nil` if all values are valid.
    var problem: RetryPolicy.Problem? {
        if base < .zero { return .negativePause(base) }
        if let cap, cap < .zero { return .negativePause(cap) }
        if case .exponential(let factor) = growth, !(factor >= 1 && factor.isFinite) { return .unusableFactor(factor) }
        if case .spread(let fraction) = jitter, !(0...1).contains(fraction) { return .unusableFactor(fraction) }
        return nil
    }

    /// The maximum pause in seconds: 292 years, the longest time that fits in 64 bits of nanoseconds.
    private static let longest = 9.2e9

    private static func power(_ base: Double, _ exponent: Double) -> Double {
        var result = 1.0
        var left = min(exponent, 2048)
        while left > 0, result < 1e12 {
            result *= base
            left -= 1
        }
        return result
    }
}
