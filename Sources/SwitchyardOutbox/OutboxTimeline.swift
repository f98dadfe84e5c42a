import Foundation
import SwitchyardServices

/// A lower limit of the time that has passed since the outbox's file was created.
///
/// While the app runs, time is measured by the monotonic clock, which is independent of the wall clock. From one run to
/// the next, only the wall clock is available. If the wall clock has moved forwards between two runs, the difference is
/// counted, but at most a quarter of the maximum age of a request. A single jump of the clock therefore never makes a
/// request too old.
struct OutboxTimeline {
    /// A time reading that the file stores for the next run of the app.
    struct Reading: Hashable {
        /// The elapsed time in seconds at the reading.
        var elapsed: Double
        /// The wall clock time of the reading.
        var date: Date
    }

    /// The elapsed time in seconds since the file was created.
    private(set) var elapsed: Double
    private var counted: MonotonicTime
    /// The elapsed time in seconds at the last reading that was stored.
    private var written: Double

    /// Creates a timeline that continues from the last reading in a file.
    init(_ last: Reading?, date: Date, now: MonotonicTime, maximumAge: Duration) {
        let (start, seconds) = (last?.elapsed ?? 0, last.map { date.timeIntervalSince($0.date) } ?? 0)
        let step = min(max(0, seconds), max(0, maximumAge.inSeconds / 4))
        elapsed = start + (step.isFinite ? step : 0)
        written = start
        counted = now
    }

    /// Adds the time that has passed until `now`.
    mutating func advance(to now: MonotonicTime) {
        guard now > counted else { return }
        elapsed += counted.duration(to: now).inSeconds
        counted = now
    }

    /// Returns a reading to store, or `nil` if the last reading is still recent enough.
    ///
    /// A reading is stored a minute after the last reading or, if that is longer, after a hundredth of the maximum age.
    mutating func reading(at date: Date, maximumAge: Duration) -> Reading? {
        guard elapsed - written >= max(60, maximumAge.inSeconds / 100) else { return nil }
        written = elapsed
        return Reading(elapsed: elapsed, date: date)
    }
}
