package import SwitchyardServices

/// The time at which a list is fetched next.
package struct ServerListSchedule: Sendable {
    private let interval: Duration
    private let minimumPause: Duration
    private var began: MonotonicTime?
    /// The time of the next fetch.
    package private(set) var due: MonotonicTime

    /// Creates a schedule whose first fetch is after a random delay.
    package init(_ options: ServerList.Options, at now: MonotonicTime, _ random: inout RandomSource) {
        interval = options.interval
        minimumPause = options.minimumPause
        due = now.advanced(by: options.startDelay * random.unit())
    }

    /// Requests a fetch as soon as the minimum pause after the last fetch is over.
    package mutating func request(at now: MonotonicTime) {
        due = min(due, max(now, began?.advanced(by: minimumPause) ?? now))
    }

    /// Records the start of a fetch.
    ///
    /// The next fetch is due after the interval, varied at random by a quarter.
    package mutating func begin(at now: MonotonicTime, _ random: inout RandomSource) {
        began = now
        due = now.advanced(by: interval * (0.75 + 0.5 * random.unit()))
    }
}
