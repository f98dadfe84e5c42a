/// How urgent a request is: among others that wait, and when no server can take them all.
public enum RequestPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Sent after the others, such as prefetching; shed while every usable server is overloaded, unless the policy
    /// disables it.
    case low
    /// The default; given up in proportion to the overload, where the policy asks for that.
    case normal
    /// Sent before the others, because the user waits for the response; never shed.
    case high

    /// Whether `left` is less urgent than `right`.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The properties of a request on which the choice of a server may depend.
package struct RequestTraits: Sendable, Hashable {
    /// How much the request matters; default normal.
    package var priority: RequestPriority
    /// The session that ``SelectionStrategy/sticky`` keeps on one server; `nil`: none.
    package var sessionKey: UInt64?
    /// The endpoint of the request, such as a hash of method and path template; default is 0.
    ///
    /// The duration and the failures of an endpoint are recorded separately (`DetectionRules.perEndpoint`). Requests
    /// with equal numbers count as the same endpoint.
    package var endpoint: UInt32
    /// Whether the request may be sent a second time; default is `true`.
    ///
    /// A request that must not be repeated is not sent to a server on trial as long as other requests try it.
    package var mayBeRepeated: Bool

    /// Creates traits.
    ///
    /// - Parameters:
    ///   - priority: How much the request matters; normal unless given.
    ///   - session: The name of the session, none unless given; its hash is the same on every machine and in every run.
    ///   - endpoint: The endpoint that is asked; 0 unless given.
    ///   - mayBeRepeated: Whether it may be sent a second time; yes unless given.
    package init(
        priority: RequestPriority = .normal,
        session: String? = nil,
        endpoint: UInt32 = 0,
        mayBeRepeated: Bool = true
    ) {
        self.priority = priority
        sessionKey = session.map { StableHash.of($0) }
        self.endpoint = endpoint
        self.mayBeRepeated = mayBeRepeated
    }
}
