public import Dispatch
public import Foundation
import SwitchyardServices

/// Tells a handler about the network, between a start and a stop.
///
///     let monitor = ReachabilityMonitor(SystemReachability())
///     monitor.start { status in banner.isHidden = status.isReachable }
///
/// Parts of an app that know nothing of the monitor hear of it by `Notification.Name.switchyardReachabilityDidChange`, when
/// a centre is given to ``start(on:posting:_:)``.
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
    ///   - queue: Where to call and to post; the main queue unless given.
    ///   - center: Where to post a notification with every status, behind the handler; nowhere unless given.
    ///   - handler: Told about the status.
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

extension Notification.Name {
    /// The way to the network is another one; the status is under `Notification.switchyardReachabilityKey`.
    public static let switchyardReachabilityDidChange = Notification.Name("Switchyard.ReachabilityDidChange")
}

extension Notification {
    /// The key under which a notification carries its ``ReachabilityStatus``.
    public static let switchyardReachabilityKey = "Switchyard.Reachability"

    /// The status that a notification of a ``ReachabilityMonitor`` is about; `nil` for any other notification.
    public var reachabilityStatus: ReachabilityStatus? {
        userInfo?[Self.switchyardReachabilityKey] as? ReachabilityStatus
    }
}
