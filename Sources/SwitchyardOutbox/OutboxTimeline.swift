import Foundation
import SwitchyardServices

/// The time that has passed for an outbox since its file was made, as far as that is certain.
///
/// While the app runs, time passes by the monotonic clock, which no setting of the wall clock moves. From one run to the
/// next only the wall clock is left: it counts if it has gone forwards, and by at most a quarter of the age that a write may
/// have, so that no single jump of it makes a write too old.
struct OutboxTimeline {
    /// What is written down for the next run.
    struct Reading: Hashable {
        /// The seconds that had passed.
        var elapsed: Double
        /// What the wall clock said then.
        var date: Date
    }

    /// The seconds that have passed.
    private(set) var elapsed: Double
    private var counted: MonotonicTime
    /// The seconds that were passed when they were last written down.
    private var written: Double

    /// Goes on from the last reading of a file.
    init(_ last: Reading?, date: Date, now: MonotonicTime, maximumAge: Duration) {
        let (start, seconds) = (last?.elapsed ?? 0, last.map { date.timeIntervalSince($0.date) } ?? 0)
        let step = min(max(0, seconds), max(0, maximumAge.inSeconds / 4))
        elapsed = start + (step.isFinite ? step : 0)
        written = start
        counted = now
    }

    /// Counts the time until now.
    mutating func advance(to now: MonotonicTime) {
        guard now > counted else { return }
        elapsed += counted.duration(to: now).inSeconds
        counted = now
    }

    /// What is worth writing down: `nil` unless a minute, or a hundredth of the age, has passed since the last time.
    mutating func reading(at date: Date, maximumAge: Duration) -> Reading? {
        guard elapsed - written >= max(60, maximumAge.inSeconds / 100) else { return nil }
        written = elapsed
        return Reading(elapsed: elapsed, date: date)
    }
}
