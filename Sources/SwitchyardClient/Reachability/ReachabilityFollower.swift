import SwitchyardHTTP
import SwitchyardServices

extension NetworkClient {
    /// Notifies the client of every change of the network, as ``networkChanged(isOnline:)`` does.
    ///
    /// The notifications end when the returned object or the client is released. While there is no network, no failure
    /// counts against a server. When the network is available again, requests that wait for it are sent again. If the
    /// kind of link changes, ``networkPathChanged()`` is called too.
    ///
    /// - Parameter provider: The source of the network's reachability.
    /// - Returns: An object that the caller must retain for as long as the client should be notified.
    public func following(_ provider: some ReachabilityProvider) -> ReachabilityFollower {
        let updates = provider.updates()
        return ReachabilityFollower(
            Task { [weak self] in
                var link: ReachabilityStatus.Link?
                for await status in updates {
                    guard let self else { return }
                    if case .reachable(let new) = status {
                        if let link, link != new { networkPathChanged() }
                        link = new
                    }
                    networkChanged(isOnline: status.isReachable)
                }
            },
            provider: provider
        )
    }
}

/// An object that notifies a client of network changes for as long as the object exists.
public final class ReachabilityFollower: Sendable {
    private let task: Task<Void, Never>
    /// The provider.
    ///
    /// The provider is retained, because it stops reporting when it is released and the app may not retain it.
    private let provider: any ReachabilityProvider

    init(_ task: Task<Void, Never>, provider: any ReachabilityProvider) {
        self.task = task
        self.provider = provider
    }

    deinit {
        task.cancel()
    }

    /// Stops notifying the client.
    public func stop() {
        task.cancel()
    }
}
