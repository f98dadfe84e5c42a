import SwitchyardHTTP
import SwitchyardServices

/// Asks for the network before a request is sent: without one the request fails at once, or waits.
///
///     options.limits = [ReachabilityLimit(SystemReachability(), whenOffline: .wait(atMost: .seconds(10)))]
///
/// Off unless it is among the limits, and unknown counts as reachable: a system that thinks itself offline may be wrong.
public final class ReachabilityLimit: RequestLimit {
    /// What becomes of a request while there is no network.
    public enum Offline: Sendable, Hashable {
        /// It fails with ``/SwitchyardHTTP/TransportError/Kind/offline``; nothing was sent.
        case fail
        /// It waits for the network, at most so long, and never longer than its deadline; then it fails.
        case wait(atMost: Duration)
    }

    private let provider: any ReachabilityProvider
    private let whenOffline: Offline

    /// Creates the check.
    ///
    /// - Parameters:
    ///   - provider: Knows the way to the network.
    ///   - whenOffline: What becomes of a request while there is none; it fails unless told otherwise.
    public init(_ provider: any ReachabilityProvider, whenOffline: Offline = .fail) {
        self.provider = provider
        self.whenOffline = whenOffline
    }

    /// Lets the request pass, at once or when the network is back.
    ///
    /// - Throws: `TransportError` of the kind `offline`.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        if provider.isReachable { return .free }
        let offline = TransportError(.offline, message: "there is no way to the network", mayHaveBeenSent: false)
        guard case .wait(let limit) = whenOffline else { throw offline }
        let isBack = await withTaskGroup(of: Bool.self) { group in
            group.addTask { [provider] in await provider.waitUntilReachable() }
            group.addTask { [time = context.time] in
                do throws(CancellationError) { try await time.sleep(for: limit) } catch { return false }
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        try Task.checkCancellation()
        guard isBack else { throw offline }
        return .free
    }
}

extension NetworkClient {
    /// Tells the client of every change of the network, as ``networkChanged(isOnline:)`` does, until the returned object
    /// or the client is released.
    ///
    /// While there is no network no failure is held against a server; when it is back, requests that wait for it are
    /// sent again. Another link in the place of the one before is another path (``networkPathChanged()``).
    ///
    /// - Parameter provider: Knows the way to the network.
    /// - Returns: Keep it as long as the client is to follow.
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

/// Keeps a client informed about the network as long as it lives.
public final class ReachabilityFollower: Sendable {
    private let task: Task<Void, Never>
    /// Tells nothing any more once it is released, and the caller may have no other reference to it.
    private let provider: any ReachabilityProvider

    init(_ task: Task<Void, Never>, provider: any ReachabilityProvider) {
        self.task = task
        self.provider = provider
    }

    deinit {
        task.cancel()
    }

    /// Stops following.
    public func stop() {
        task.cancel()
    }
}
