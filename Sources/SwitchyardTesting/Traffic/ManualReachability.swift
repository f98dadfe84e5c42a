public import SwitchyardClient

/// A reachability provider whose status a test sets.
public final class ManualReachability: ReachabilityProvider {
    private let board: ReachabilityBroadcaster

    /// Creates a provider.
    ///
    /// By default, the network is reachable.
    public init(_ status: ReachabilityStatus = .reachable(.local)) {
        board = ReachabilityBroadcaster(status)
    }

    /// The current reachability.
    ///
    /// Setting the value notifies all streams that ``updates()`` returned.
    public var status: ReachabilityStatus {
        get { board.status }
        set { board.status = newValue }
    }

    /// Returns a stream of the current status and every later change.
    public func updates() -> AsyncStream<ReachabilityStatus> { board.updates() }
}
