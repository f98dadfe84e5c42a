/// A point on a clock that never goes backwards, in nanoseconds since an arbitrary start.
///
/// Every decision of the library is made on this time. It is handed in, so that tests and simulations own it; the wall
/// clock is used only for what has to survive a relaunch.
public struct MonotonicTime: InstantProtocol, Hashable, Sendable {
    /// Nanoseconds since the start of the clock.
    public var nanoseconds: Int64

    /// The start of the clock.
    public static let zero = MonotonicTime(nanoseconds: 0)

    /// Creates the point `nanoseconds` after the start of the clock.
    @inlinable public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Creates the point `seconds` after the start of the clock; what does not fit is clamped, not trapped.
    public init(seconds: Double) {
        nanoseconds = Int64(clampingNanoseconds: seconds * 1e9)
    }

    /// Seconds since the start of the clock.
    @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Returns the point that is `duration` later; what does not fit is clamped, not trapped.
    @inlinable public func advanced(by duration: Duration) -> MonotonicTime {
        advanced(byNanoseconds: duration.clampedNanoseconds)
    }

    /// Returns the point that is a packed duration later; `nil` when that is missing.
    @inlinable package func advanced(by duration: PackedDuration) -> MonotonicTime? {
        duration.isMissing ? nil : advanced(byNanoseconds: duration.nanoseconds)
    }

    /// Returns the point that is so many seconds later; what does not fit is clamped, not trapped.
    package func advanced(bySeconds seconds: Double) -> MonotonicTime {
        advanced(byNanoseconds: Int64(clampingNanoseconds: seconds * 1e9))
    }

    @inlinable func advanced(byNanoseconds step: Int64) -> MonotonicTime {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(step)
        return MonotonicTime(nanoseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }

    /// Returns how far away `other` is; positive when it is later.
    @inlinable public func duration(to other: MonotonicTime) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .nanoseconds(overflow ? (other < self ? .min : .max) : difference)
    }

    /// Returns how many seconds later `other` is; below 0 when it is earlier.
    package func seconds(to other: MonotonicTime) -> Double {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return overflow ? other.seconds - seconds : Double(difference) / 1e9
    }

    /// Whether `left` is earlier than `right`.
    @inlinable public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// Creates a duration of so many seconds, for numbers of unknown origin: what does not fit is clamped to 292 years,
    /// not trapped, and what is no number is nothing.
    package init(clampingSeconds seconds: Double) {
        self = seconds.isNaN ? .zero : .seconds(min(max(seconds, -9.2e9), 9.2e9))
    }

    /// Whole nanoseconds, clamped to what 64 bits hold (292 years).
    @usableFromInline package var clampedNanoseconds: Int64 {
        #if !canImport(Darwin)
            // From 0 to 78 minutes, as nearly all are, a division of 64 bits is enough: 10^9 = 2^9 * 1,953,125.
            if let short = Int64(exactly: attoseconds >> 9), short >= 0 { return short / 1_953_125 }
        #endif
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// Seconds as a floating-point number.
    package var inSeconds: Double {
        #if !canImport(Darwin)
            // Up to 9 s, as most are, one number holds it.
            if let short = Int64(exactly: attoseconds) { return Double(short) / 1e18 }
        #endif
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

extension Int64 {
    fileprivate init(clampingNanoseconds value: Double) {
        if value.isNaN {
            self = 0
        } else if value >= 9.2e18 {
            self = .max
        } else if value <= -9.2e18 {
            self = .min
        } else {
            self = Int64(value)
        }
    }
}

extension Duration {
    /// The duration for a reader: whole milliseconds from a second up, whole microseconds below.
    package var rounded: Duration {
        // Beyond 30 years nobody misses them, and the product could be too large.
        guard abs(inSeconds) < 1e9 else { return self }
        guard abs(inSeconds) < 1 else { return .milliseconds(Int64((inSeconds * 1e3).rounded())) }
        return .microseconds(Int64((inSeconds * 1e6).rounded()))
    }
}

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
