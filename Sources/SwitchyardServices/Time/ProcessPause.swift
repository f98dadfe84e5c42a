/// The last pause of this process: a stop by a signal or a debugger, a suspension of the app, or a sleep of the
/// machine.
///
/// Deadlines continue to run during a pause, but the process reads no data. The code that notices a pause records it
/// here: the timers, if they fire too late, and a transport, if its wait for the network was interrupted.
package enum ProcessPause {
    /// The delay of a timer above which the process is assumed to have been paused.
    static let lateness = Duration.milliseconds(500)
    /// The time by which timers are postponed after a pause, so that data that has arrived is read before a timeout
    /// fires.
    static let grace = Duration.milliseconds(100)

    private static let end = Locked<MonotonicTime?>(nil)

    /// The time at which the process resumed after its last pause, or `nil` if it was never paused.
    static var lastEnd: MonotonicTime? { end.withLock { $0 } }

    /// Records that a pause of the process has just ended.
    package static func note() {
        let now = SystemTime.now
        end.withLock { $0 = max($0 ?? now, now) }
    }

    /// Returns the time until which timers are postponed, or `nil` if they are not postponed.
    static func holdsBack(at now: MonotonicTime) -> MonotonicTime? {
        lastEnd.map { $0.advanced(by: grace) }.flatMap { now < $0 ? $0 : nil }
    }
}
