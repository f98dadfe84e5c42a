/// A source of the network's reachability and its changes.
///
/// ``SystemReachability`` takes the status from the system. `ManualReachability` in `SwitchyardTesting` gets its status
/// from a test. Requests are sent whatever the status, unless a `ReachabilityLimit` is among the limits. The reason is
/// that the system's status is often wrong, and only a request proves whether the network works.
public protocol ReachabilityProvider: Sendable {
    /// The current status.
    var status: ReachabilityStatus { get }

    /// Returns a stream of the current status and every later change, each different from the previous value.
    func updates() -> AsyncStream<ReachabilityStatus>
}

extension ReachabilityProvider {
    /// Whether the network is reachable.
    ///
    /// An unknown status counts as reachable.
    public var isReachable: Bool { status.isReachable }

    /// Waits until the network is reachable.
    ///
    /// - Returns: `false` if the task was cancelled first, or if the provider has ended its updates.
    public func waitUntilReachable() async -> Bool {
        if isReachable { return true }
        for await status in updates() where status.isReachable { return true }
        return false
    }
}

/// The reachability of the network.
public enum ReachabilityStatus: Sendable, Hashable {
    /// The status is unknown, which counts as reachable.
    case unknown
    /// The network is not reachable.
    case notReachable
    /// The network is reachable over this kind of link.
    case reachable(Link)

    /// The kinds of links to the network.
    public enum Link: String, Sendable, Hashable, CaseIterable {
        /// A cellular network.
        case cellular
        /// WiFi, Ethernet or a similar local network.
        case local
        /// An unknown kind of link.
        case other
    }

    /// Whether the network is reachable.
    ///
    /// An unknown status counts as reachable.
    public var isReachable: Bool { self != .notReachable }

    /// Returns the status as text for the user.
    ///
    /// - Parameter isChinese: Whether the text is in Simplified Chinese instead of English.
    /// - Returns: The text.
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
