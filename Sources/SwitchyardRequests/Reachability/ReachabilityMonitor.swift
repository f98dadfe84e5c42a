public import Dispatch
public import Foundation
public import SwitchyardClient
import SwitchyardServices

/// A monitor that calls a handler with the network's reachability after ``start(on:posting:_:)`` until ``stop()``.
///
///     let monitor = ReachabilityMonitor(SystemReachability())
///     monitor.start { status in banner.isHidden = status.isReachable }
///
/// If a notification center is passed to ``start(on:posting:_:)``, code without access to the monitor can observe
/// `Notification.Name.switchyardReachabilityDidChange`.
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

    /// The current reachability of the network.
    public var status: ReachabilityStatus { provider.status }

    /// Whether the network is reachable.
    ///
    /// An unknown status counts as reachable.
    public var isReachable: Bool { provider.isReachable }

    /// Calls the handler with the current status and with every change.
    ///
    /// If the monitor was already started, the new handler replaces the earlier handler.
    ///
    /// - Parameters:
    ///   - queue: The queue for the handler and the notifications, the main queue by default.
    ///   - center: The notification center to which every status is posted after the handler was called. If `nil` (the
    ///     default), nothing is posted.
    ///   - handler: A closure that receives the status.
    public func start(
        on queue: DispatchQueue = .main,
        posting center: NotificationCenter? = nil,
        _ handler: @escaping @Sendable (ReachabilityStatus) -> Void = { _ in }
    ) {
        let updates = provider.updates()
        let new = Task {
            for await status in updates {
                guard !Task.isCancelled else { return }
                queue.async {
                    handler(status)
                    center?.post(
                        name: .switchyardReachabilityDidChange,
                        object: nil,
                        userInfo: [Notification.switchyardReachabilityKey: status]
                    )
                }
            }
        }
        replace(with: new)
    }

    /// Stops calling the handler.
    ///
    /// Calls that were already added to its queue still happen.
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

extension Notification.Name {
    /// The notification that the network's reachability has changed.
    ///
    /// Its `userInfo` contains the status under `Notification.switchyardReachabilityKey`.
    public static let switchyardReachabilityDidChange = Notification.Name("Switchyard.ReachabilityDidChange")
}

extension Notification {
    /// The `userInfo` key of the ``/SwitchyardClient/ReachabilityStatus`` in a notification.
    public static let switchyardReachabilityKey = "Switchyard.Reachability"

    /// The status in a notification of a ``ReachabilityMonitor``, or `nil` for any other notification.
    public var reachabilityStatus: ReachabilityStatus? {
        userInfo?[Self.switchyardReachabilityKey] as? ReachabilityStatus
    }
}
