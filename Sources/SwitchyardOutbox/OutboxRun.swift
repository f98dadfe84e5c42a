/// The automatic sending of an ``Outbox``.
///
/// The outbox sends automatically until this object is released.
public final class OutboxRun: Sendable {
    private let tasks: [Task<Void, Never>]
    private let end: @Sendable () -> Void

    init(tasks: [Task<Void, Never>], end: @escaping @Sendable () -> Void) {
        self.tasks = tasks
        self.end = end
    }

    deinit {
        stop()
    }

    /// Stops sending.
    ///
    /// A request that is in flight is cancelled and stays stored.
    public func stop() {
        end()
        for task in tasks { task.cancel() }
    }
}
