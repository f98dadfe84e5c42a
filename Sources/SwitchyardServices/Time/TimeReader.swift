/// Reads the time of a source, and sets its timers.
///
/// That of the system, which nearly everybody uses, is asked without the copy that a value of any type needs: where the
/// time is read with every call, the copy costs as much as the time.
package struct TimeReader: Sendable {
    private let source: any TimeSource
    private let system: SystemTime?

    package init(_ source: any TimeSource) {
        self.source = source
        system = source as? SystemTime
    }

    /// The time.
    package var now: MonotonicTime { system?.now ?? source.now }

    /// The time, or one shortly before.
    package var coarseNow: MonotonicTime { system?.coarseNow ?? source.coarseNow }

    /// Calls `action` once when the time has come.
    package func schedule(
        at deadline: MonotonicTime,
        _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer {
        system?.schedule(at: deadline, action) ?? source.schedule(at: deadline, action)
    }
}
