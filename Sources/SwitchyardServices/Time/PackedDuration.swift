/// A duration that may be missing, in 8 bytes instead of 32.
///
/// Configurations and answers hold several of them and are copied with every request. Fractions of a nanosecond are
/// dropped, and 292 years is the longest.
package struct PackedDuration: Sendable, Hashable {
    /// The smallest number stands for a missing duration.
    private let nanoseconds: Int64

    /// Packs a duration.
    package init(_ duration: Duration?) {
        nanoseconds = duration.map { max(.min + 1, $0.clampedNanoseconds) } ?? .min
    }

    /// The duration; `nil` when it is missing.
    package var value: Duration? {
        nanoseconds == .min ? nil : .nanoseconds(nanoseconds)
    }
}
