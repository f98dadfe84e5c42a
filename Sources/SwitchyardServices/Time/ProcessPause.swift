/// The last pause of this process: it was stopped by a signal or a debugger, its app was suspended, or the machine slept.
///
/// The time of a pause passes for every deadline, and nothing is read meanwhile. Whoever notices a pause notes it here:
/// the timers, which go off too late, and a transport, whose wait for the network was interrupted.
package enum ProcessPause {
    /// How late a timer may be in a process that runs.
    static let lateness = Duration.milliseconds(500)
    /// How long timers wait after a pause, so that what has arrived is read before the time is judged.
    static let grace = Duration.milliseconds(100)

    private static let end = Locked<MonotonicTime?>(nil)

    /// When the process went on; `nil` when it was never stopped.
    static var lastEnd: MonotonicTime? { end.withLock { $0 } }

    /// Notes that the process has been stopped until now.
    package static func note() {
        let now = SystemTime.now
        end.withLock { $0 = max($0 ?? now, now) }
    }

    /// Until when timers wait; `nil` when they need not.
    static func holdsBack(at now: MonotonicTime) -> MonotonicTime? {
        lastEnd.map { $0.advanced(by: grace) }.flatMap { now < $0 ? $0 : nil }
    }
}
