public import SwitchyardClient

/// A network that is there or not as a test says.
public final class ManualReachability: ReachabilityProvider {
    private let board: StatusBoard

    /// Creates a network; it is there unless told otherwise.
    public init(_ status: ReachabilityStatus = .reachable(.local)) {
        board = StatusBoard(status)
    }

    /// What is known now; setting it tells those who listen.
    public var status: ReachabilityStatus {
        get { board.status }
        set { board.status = newValue }
    }

    /// The present status and every change from now on.
    public func updates() -> AsyncStream<ReachabilityStatus> { board.updates() }
}
