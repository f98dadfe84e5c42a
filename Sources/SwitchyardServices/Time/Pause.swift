extension TimeSource {
    /// Waits for a duration on this clock; returns early if the task is cancelled.
    package func pause(for duration: Duration) async {
        await Pause().wait(for: duration, on: self)
    }
}

/// A wait that can be ended early, even before it starts.
package struct Pause: Sendable {
    private let waiter = Waiter<Void>()

    package init() {}

    /// Waits for a duration, once.
    ///
    /// It returns early after ``end()`` or if the task is cancelled.
    package func wait(for duration: Duration, on time: any TimeSource) async {
        let timer = time.schedule(at: time.now.advanced(by: max(.zero, duration))) { end() }
        defer { timer.cancel() }
        await waiter.outcome {}
    }

    /// Ends the wait.
    package func end() {
        waiter.resume(returning: ())
    }
}
