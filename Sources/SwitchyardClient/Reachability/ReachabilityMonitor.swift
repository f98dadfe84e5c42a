public import Dispatch
import SwitchyardServices

/// Tells a handler about the network, between a start and a stop.
///
///     let monitor = ReachabilityMonitor(SystemReachability())
///     monitor.start { status in banner.isHidden = status.isReachable }
public final class ReachabilityMonitor: Sendable {
    private let provider: any ReachabilityProvider
    private let task = Locked<Task<Void, Never>?>(nil)

    /// Creates a monitor that has not started.
    public init(_ provider: any ReachabilityProvider) {
        self.provider = provider
    }

    deinit {
        stop()
    }

    /// What is known now.
    public var status: ReachabilityStatus { provider.status }

    /// Whether requests are worth sending; unknown counts as reachable.
    public var isReachable: Bool { provider.isReachable }

    /// Calls the handler with the present status and with every change; a start after a start takes its place.
    ///
    /// - Parameters:
    ///   - queue: Where to call; the main queue unless given.
    ///   - handler: Told about the status.
    public func start(on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void) {
        let updates = provider.updates()
        let new = Task {
            for await status in updates {
                guard !Task.isCancelled else { return }
                queue.async { handler(status) }
            }
        }
        replace(with: new)
    }

    /// Calls the handler no more, apart from what is on its queue already.
    public func stop() {
        replace(with: nil)
    }

    private func replace(with new: Task<Void, Never>?) {
        let old = task.withLock { task in
            defer { task = new }
            return task
        }
        old?.cancel()
    }
}
