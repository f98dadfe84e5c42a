#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The accumulated evidence against a server (``ScoreRule``): failures raise it, successes and time lower it.
struct EvidenceScore: Sendable {
    private(set) var value = 0.0
    private var since: Double

    init(at now: Double) {
        since = now
    }

    /// Lets the score fade for the time that has passed.
    mutating func decay(to now: Double, halfLife: Double) {
        if value > 0 { value *= pow(0.5, (now - since) / halfLife) }
        since = now
    }

    /// Adds evidence, up to a ceiling.
    mutating func raise(by step: Double, ceiling: Double) {
        value = min(value + step, ceiling)
    }

    /// Takes evidence away, down to 0; `step` is negative.
    mutating func lower(by step: Double) {
        value = max(0, value + step)
    }

    /// Forgets all evidence.
    mutating func clear() {
        value = 0
    }
}
