import Foundation
import SwitchyardServices

/// Puts the times of a client's clock on the wall clock, as they stood to each other once.
struct WallClock: Sendable {
    private let time: any TimeSource
    private let date: Double
    private let since: MonotonicTime

    /// Takes the time of both clocks.
    init(_ time: any TimeSource, date: Date = Date()) {
        self.date = date.timeIntervalSince1970 * 1_000
        self.time = time
        since = time.now
    }

    /// The time now, in milliseconds since 1970.
    var now: Double { milliseconds(time.now) }

    /// A time in milliseconds since 1970.
    func milliseconds(_ time: MonotonicTime) -> Double { date + since.duration(to: time).inSeconds * 1_000 }

    /// A time as a date.
    func date(_ time: MonotonicTime) -> Date { Date(timeIntervalSince1970: milliseconds(time) / 1_000) }
}
