import Foundation
import SwitchyardServices

/// A converter from times of a client's clock to wall-clock times.
///
/// The offset between the clocks is measured once.
struct WallClock: Sendable {
    private let time: any TimeSource
    private let date: Double
    private let since: MonotonicTime

    /// Creates a converter from the current times of both clocks.
    init(_ time: any TimeSource, date: Date = Date()) {
        self.date = date.timeIntervalSince1970 * 1_000
        self.time = time
        since = time.now
    }

    /// The current time, in milliseconds since 1970.
    var now: Double { milliseconds(time.now) }

    /// Converts a time of the client's clock to milliseconds since 1970.
    func milliseconds(_ time: MonotonicTime) -> Double { date + since.duration(to: time).inSeconds * 1_000 }

    /// Converts a time of the client's clock to a date.
    func date(_ time: MonotonicTime) -> Date { Date(timeIntervalSince1970: milliseconds(time) / 1_000) }
}
