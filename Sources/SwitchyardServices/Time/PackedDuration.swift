/// A duration that may be missing, in 8 bytes instead of 32.
///
/// Configurations and answers hold several of them and are copied with every request. Fractions of a nanosecond are
/// dropped, and 292 years is the longest.
// `@usableFromInline`, since `package` alone lets no other module compile it into its own code (Swift 6.3).
@usableFromInline package struct PackedDuration: Sendable, Hashable {
    /// The smallest number stands for a missing duration.
    @usableFromInline let nanoseconds: Int64

    /// Packs a duration.
    @inlinable package init(_ duration: Duration?) {
        nanoseconds = if let duration { max(.min + 1, duration.clampedNanoseconds) } else { .min }
    }

    /// The duration; `nil` when it is missing.
    @inlinable package var value: Duration? {
        isMissing ? nil : .nanoseconds(nanoseconds)
    }

    /// Whether there is no duration.
    @inlinable package var isMissing: Bool { nanoseconds == .min }

    /// This one, or another in place of a missing one.
    @inlinable package func or(_ other: PackedDuration) -> PackedDuration {
        isMissing ? other : self
    }
}
