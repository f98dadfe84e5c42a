/// The last pause of this process: a stop by a signal or a debugger, a suspension of the app, or a sleep of the
/// machine.
///
/// Deadlines continue to run during a pause, but the process reads no data. The code that notices a pause records it
/// here: the timers, if they fire too late, and a transport, if its wait for the network was interrupted.
package enum ProcessPause {
    private struct State {
        var end: MonotonicTime?
        /// The number of transports that are reading the data that arrived during the pause.
        var readers = 0
    }

    /// The delay of a timer above which the process is assumed to have been paused.
    static let lateness = Duration.milliseconds(500)
    /// The time by which timers are postponed after a pause, so that transports can begin to read the data that has
    /// arrived before a timeout fires.
    static let grace = Duration.milliseconds(100)
    /// The maximum time by which timers are postponed while transports read the data that has arrived.
    static let maximumGrace = Duration.seconds(2)
    /// The time between two checks whether transports still read.
    private static let checkInterval = Duration.milliseconds(20)

    private static let state = Locked(State())

    /// The time at which the process resumed after its last pause, or `nil` if it was never paused.
    static var lastEnd: MonotonicTime? { state.withLock { $0.end } }

    /// Records that a pause of the process has just ended.
    package static func note() {
        let now = SystemTime.now
        state.withLock { $0.end = max($0.end ?? now, now) }
    }

    /// Records that a pause of the process has just ended, and reads the data that arrived during the pause.
    ///
    /// Timers are postponed until the closure returns, at most by ``maximumGrace``. On a busy machine, reading can take
    /// longer than ``grace``.
    package static func readArrivedData<Value>(_ read: () -> Value) -> Value {
        note()
        state.withLock { $0.readers += 1 }
        defer { state.withLock { $0.readers -= 1 } }
        return read()
    }

    /// Returns the time until which timers are postponed, or `nil` if they are not postponed.
    static func holdsBack(at now: MonotonicTime) -> MonotonicTime? {
        let (end, isReading) = state.withLock { ($0.end, $0.readers > 0) }
        guard let end else { return nil }
        if now < end.advanced(by: grace) { return end.advanced(by: grace) }
        return isReading && now < end.advanced(by: maximumGrace) ? now.advanced(by: checkInterval) : nil
    }
}
