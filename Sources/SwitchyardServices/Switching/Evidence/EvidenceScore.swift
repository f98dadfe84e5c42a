#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The accumulated evidence against a server (``ScoreRule``).
///
/// Failures raise it. Successes and time lower it.
struct EvidenceScore: Sendable {
    /// The maximum value of ``calm``, the number of successes at a score of 0.
    private static let calmLimit: UInt16 = 1000

    private(set) var value = 0.0
    /// The number of successes at a score of 0.
    ///
    /// When a raised score falls back to 0, this number is divided by four.
    private(set) var calm: UInt16 = 0
    /// Whether there were successes between the failures that make up the score.
    private(set) var isMixed = false
    private var since: Double

    init(at now: Double) {
        since = now
    }

    /// Reduces the score for the time that has passed.
    mutating func decay(to now: Double, halfLife: Double) {
        if value > 0 { value *= pow(0.5, (now - since) / halfLife) }
        since = now
    }

    /// Raises the score, up to a ceiling.
    mutating func raise(by step: Double, ceiling: Double) {
        if value == 0 { isMixed = false }
        value = min(value + step, ceiling)
    }

    /// Lowers the score, down to 0; `step` is negative.
    mutating func lower(by step: Double) {
        guard value > 0 else {
            if calm < EvidenceScore.calmLimit { calm += 1 }
            return
        }
        value += step
        isMixed = true
        if value <= 0 {
            value = 0
            calm /= 4
        }
    }

    /// Forgets all evidence.
    mutating func clear() {
        value = 0
    }
}
