/// Knows the way to the network, and tells when it changes.
///
/// ``SystemReachability`` asks the system; `ManualReachability` in `SwitchyardTesting` does what a test says. Requests
/// are sent whatever it says, unless a ``ReachabilityLimit`` is among the limits: what a system believes of its network
/// is often wrong, and a request is the only proof.
public protocol ReachabilityProvider: Sendable {
    /// What is known now.
    var status: ReachabilityStatus { get }

    /// The present status and every change from now on, each different from the one before.
    func updates() -> AsyncStream<ReachabilityStatus>
}

extension ReachabilityProvider {
    /// Whether requests are worth sending; unknown counts as reachable.
    public var isReachable: Bool { status.isReachable }

    /// Waits until the network can be reached.
    ///
    /// - Returns: `false` when the task was cancelled before, or nothing will be told any more.
    public func waitUntilReachable() async -> Bool {
        if isReachable { return true }
        for await status in updates() where status.isReachable { return true }
        return false
    }
}
