import Foundation
import SwitchyardServices

/// The time that has certainly passed for an outbox since its file was created.
///
/// While the app runs, time is measured by the monotonic clock, which is independent of the wall clock. From one run to
/// the next, only the wall clock is available. It counts if it has moved forwards, and by at most a quarter of the
/// maximum age of a write, so that no single jump makes a write too old.
struct OutboxTimeline {
    /// A time reading that is stored for the next run.
    struct Reading: Hashable {
        /// The time in seconds that had passed.
        var elapsed: Double
        /// The wall clock time of the reading.
        var date: Date
    }

    /// The time in seconds that has passed.
    private(set) var elapsed: Double
    private var counted: MonotonicTime
    /// The time in seconds that had passed at the last stored reading.
    private var written: Double

    /// Creates a timeline that continues from the last reading of a file.
    init(_ last: Reading?, date: Date, now: MonotonicTime, maximumAge: Duration) {
        let (start, seconds) = (last?.elapsed ?? 0, last.map { date.timeIntervalSince($0.date) } ?? 0)
        let step = min(max(0, seconds), max(0, maximumAge.inSeconds / 4))
        elapsed = start + (step.isFinite ? step : 0)
        written = start
        counted = now
    }

    /// Adds the time until now.
    mutating func advance(to now: MonotonicTime) {
        guard now > counted else { return }
        elapsed += counted.duration(to: now).inSeconds
        counted = now
    }

    /// Returns a reading to store, or `nil` unless a minute and a hundredth of the maximum age have passed since the
    /// last one.
    mutating func reading(at date: Date, maximumAge: Duration) -> Reading? {
        guard elapsed - written >= max(60, maximumAge.inSeconds / 100) else { return nil }
        written = elapsed
        return Reading(elapsed: elapsed, date: date)
    }
}
