/// The time for which the timer of the system is set.
///
/// That timer counts only while the machine is awake, and the clock of the deadlines runs on while it sleeps: after a
/// sleep the timer goes off too late by its length, and nothing that is set for later would come before it.
struct SystemAlarm {
    /// An hour; after it the timer is set anew.
    private static let longestDelay: Int64 = 3_600_000_000_000
    /// How late the timer may be without having slept.
    private static let patience = Duration.milliseconds(100)

    private var dueAt: MonotonicTime?

    /// Whether the timer will go off by a deadline, so that it need not be set for it; one that is overdue has slept.
    func rings(by deadline: MonotonicTime, at now: MonotonicTime) -> Bool {
        let dueAt = dueAt ?? .distantFuture
        return dueAt <= deadline && now < dueAt.advanced(by: Self.patience)
    }

    /// Sets the timer for the earliest deadline; in how many nanoseconds it is to go off, `nil` when it is set already.
    mutating func set(for earliest: MonotonicTime, at now: MonotonicTime) -> Int64? {
        guard !rings(by: earliest, at: now) else { return nil }
        dueAt = max(earliest, now)
        return min(max(0, now.duration(to: earliest).clampedNanoseconds), Self.longestDelay)
    }
}
