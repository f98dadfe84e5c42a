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

/// What is known of the way to the network.
public enum ReachabilityStatus: Sendable, Hashable {
    /// Nothing is known; counts as reachable.
    case unknown
    /// There is no way.
    case notReachable
    /// There is a way, of this kind.
    case reachable(Link)

    /// The kinds of way.
    public enum Link: String, Sendable, Hashable, CaseIterable {
        /// A cellular network.
        case cellular
        /// WiFi, Ethernet or the like.
        case local
        /// It cannot be told.
        case other
    }

    /// Whether requests are worth sending: whenever the opposite is not known.
    public var isReachable: Bool { self != .notReachable }

    /// The status in words for the user.
    ///
    /// - Parameter isChinese: Whether in Simplified Chinese; English unless set.
    /// - Returns: The words.
    public func text(inSimplifiedChinese isChinese: Bool = false) -> String {
        switch self {
        case .unknown: isChinese ? "网络状态未知" : "Unknown"
        case .notReachable: isChinese ? "网络不可用" : "Not reachable"
        case .reachable(.cellular): isChinese ? "可通过蜂窝网络访问" : "Reachable via cellular network"
        case .reachable(.local): isChinese ? "可通过无线局域网或有线网络访问" : "Reachable via WiFi or Ethernet"
        case .reachable(.other): isChinese ? "网络可用" : "Reachable"
        }
    }
}
