/// A point in time on a clock that never goes backwards, in nanoseconds since an arbitrary start.
///
/// All decisions of the library are based on this time. It is passed in, so that tests and simulations control it. The
/// wall clock is used only for data that must survive a relaunch.
public struct MonotonicTime: InstantProtocol, Hashable, Sendable {
    /// Nanoseconds since the start of the clock.
    public var nanoseconds: Int64

    /// The start of the clock.
    public static let zero = MonotonicTime(nanoseconds: 0)

    /// Creates the point `nanoseconds` after the start of the clock.
    @inlinable public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Creates the point `seconds` after the start of the clock; a value out of range is clamped.
    public init(seconds: Double) {
        nanoseconds = Int64(clampingNanoseconds: seconds * 1e9)
    }

    /// Seconds since the start of the clock.
    @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Returns the point that is `duration` later; a result out of range is clamped.
    @inlinable public func advanced(by duration: Duration) -> MonotonicTime {
        advanced(byNanoseconds: duration.clampedNanoseconds)
    }

    /// Returns the point that is `duration` later, or `nil` if the duration is missing.
    @inlinable package func advanced(by duration: PackedDuration) -> MonotonicTime? {
        duration.isMissing ? nil : advanced(byNanoseconds: duration.nanoseconds)
    }

    /// Returns the point that is `seconds` later; a result out of range is clamped.
    package func advanced(bySeconds seconds: Double) -> MonotonicTime {
        advanced(byNanoseconds: Int64(clampingNanoseconds: seconds * 1e9))
    }

    @inlinable func advanced(byNanoseconds step: Int64) -> MonotonicTime {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(step)
        return MonotonicTime(nanoseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }

    /// Returns the duration until `other`, positive if `other` is later.
    @inlinable public func duration(to other: MonotonicTime) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .nanoseconds(overflow ? (other < self ? .min : .max) : difference)
    }

    /// Returns the seconds until `other`, negative if `other` is earlier.
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
    /// Creates a duration from a number of seconds of unknown origin.
    ///
    /// A value out of range is clamped to 292 years, and NaN becomes zero.
    package init(clampingSeconds seconds: Double) {
        self = seconds.isNaN ? .zero : .seconds(min(max(seconds, -9.2e9), 9.2e9))
    }

    /// The duration in whole nanoseconds, clamped to the range of 64 bits (292 years).
    @usableFromInline package var clampedNanoseconds: Int64 {
        #if !canImport(Darwin)
            // Attoseconds are divided by 10^9 = 2^9 * 1,953,125. After the shift by 9 bits, a duration of up to 78
            // minutes (2^72 as) fits in 64 bits, so a 64-bit division is enough.
            if let short = Int64(exactly: attoseconds >> 9), short >= 0 { return short / 1_953_125 }
        #endif
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in seconds.
    package var inSeconds: Double {
        #if !canImport(Darwin)
            // Most durations are at most 9 s, so their attoseconds fit in one 64-bit integer.
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
    /// The duration in a report or a description: `8 ms`, or `1.24 s` from one second on.
    package var inReport: String {
        // Limits the value, so that the conversion does not trap for a duration that an app has set.
        let milliseconds = Int64(min(max(-1e15, inSeconds * 1e3), 1e15).rounded())
        guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
        let hundredths = (milliseconds + 5) / 10
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
    }
}

/// An optional duration in 8 bytes instead of 32.
///
/// Configurations and responses contain several durations and are copied with every request. Fractions of a nanosecond
/// are dropped, and the longest duration is 292 years.
// `@usableFromInline`, because with `package` alone no other module can inline this type (Swift 6.3).
@usableFromInline package struct PackedDuration: Sendable, Hashable {
    /// The nanoseconds; `Int64.min` represents a missing duration.
    @usableFromInline let nanoseconds: Int64

    /// Packs an optional duration.
    @inlinable package init(_ duration: Duration?) {
        nanoseconds = if let duration { max(.min + 1, duration.clampedNanoseconds) } else { .min }
    }

    /// The duration, or `nil` if it is missing.
    @inlinable package var value: Duration? {
        isMissing ? nil : .nanoseconds(nanoseconds)
    }

    /// Whether the duration is missing.
    @inlinable package var isMissing: Bool { nanoseconds == .min }

    /// Returns this duration, or `other` if this duration is missing.
    @inlinable package func or(_ other: PackedDuration) -> PackedDuration {
        isMissing ? other : self
    }
}
