import Testing

@testable import SwitchyardServices

@Suite struct DurationTests {
    /// Values around the limits of the conversion paths: 2^63 as (9.2 s), 2^72 as (78 minutes), and the extremes.
    private static let durations: [Duration] = [
        .zero, .nanoseconds(1), .nanoseconds(-1), .seconds(1.118), .seconds(-1.118), .milliseconds(9_223),
        .milliseconds(9_224), .seconds(60), .seconds(-60), .seconds(4_722), .seconds(4_723), .seconds(86_400 * 365),
        Duration(secondsComponent: 0, attosecondsComponent: 1),
        Duration(secondsComponent: 0, attosecondsComponent: -1),
        Duration(secondsComponent: 0, attosecondsComponent: 999_999_999),
        Duration(secondsComponent: 0, attosecondsComponent: -1_000_000_001),
        Duration(secondsComponent: 59, attosecondsComponent: 999_999_999_999_999_999),
        Duration(secondsComponent: 4_722, attosecondsComponent: 366_482_869_645_213_695),
        Duration(secondsComponent: 4_722, attosecondsComponent: 366_482_869_645_213_696),
    ]

    @Test(arguments: durations)
    func `a duration is rounded towards zero to whole nanoseconds`(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components

        #expect(duration.clampedNanoseconds == seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    @Test func `a duration beyond 64 bits of nanoseconds is clamped`() {
        #expect(Duration.seconds(Int64.max).clampedNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).clampedNanoseconds == .min)
        #expect(Duration.nanoseconds(Int64.max).clampedNanoseconds == .max)
        #expect(Duration.nanoseconds(Int64.min).clampedNanoseconds == .min)
    }

    @Test(arguments: durations)
    func `a duration from seconds is accurate to the last bit`(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let expected = Double(seconds) + Double(attoseconds) / 1e18

        #expect(abs(duration.inSeconds - expected) <= expected.ulp)
    }

    @Test func `a packed duration keeps its value, and a missing duration is replaced by a default`() {
        let missing = PackedDuration(nil)
        let short = PackedDuration(.milliseconds(1_500))

        #expect(missing.value == nil)
        #expect(short.value == .milliseconds(1_500))
        #expect(missing.or(short) == short)
        #expect(short.or(PackedDuration(.seconds(9))) == short)
        #expect(missing.or(missing).value == nil)
    }

    @Test func `the shortest duration is not mistaken for a missing duration`() {
        #expect(PackedDuration(.nanoseconds(Int64.min)).value == .nanoseconds(Int64.min + 1))
    }

    @Test func `adding a packed duration to a time advances the time unless the duration is missing`() {
        let start = MonotonicTime(seconds: 5)

        #expect(start.advanced(by: PackedDuration(.seconds(60))) == MonotonicTime(seconds: 65))
        #expect(start.advanced(by: PackedDuration(nil)) == nil)
        #expect(start.advanced(by: PackedDuration(.seconds(Int64.max))) == MonotonicTime(nanoseconds: .max))
    }

    @Test func `a time is advanced by seconds and clamped at its limits`() {
        let start = MonotonicTime(seconds: 5)

        #expect(start.advanced(bySeconds: 1.5) == MonotonicTime(seconds: 6.5))
        #expect(start.advanced(bySeconds: -1.5) == MonotonicTime(seconds: 3.5))
        #expect(start.advanced(bySeconds: .nan) == start)
        #expect(start.advanced(bySeconds: .infinity) == MonotonicTime(nanoseconds: .max))
        #expect(MonotonicTime(seconds: -5).advanced(bySeconds: -.infinity) == MonotonicTime(nanoseconds: .min))
    }

    @Test func `the seconds between two times are exact, however late the times are`() {
        let late = MonotonicTime(nanoseconds: 2_044_635_869_335)

        #expect(late.seconds(to: late.advanced(by: .seconds(30))) == 30)
        #expect(late.advanced(by: .seconds(30)).seconds(to: late) == -30)
        #expect(MonotonicTime(nanoseconds: .min).seconds(to: MonotonicTime(nanoseconds: .max)) > 1.8e10)
    }
}
