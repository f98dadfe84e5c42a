/// The urgency of a request.
///
/// It determines which waiting request is sent first, and which requests are shed (not sent) if the servers cannot
/// process all of them.
public enum RequestPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Sent after requests with a higher priority; suitable for prefetching.
    ///
    /// Requests of this priority are shed while every usable server is overloaded, unless the policy disables shedding.
    case low
    /// The default; shed in proportion to the overload if the service file sets `switching.admission.sheds` to
    /// `normal`.
    case normal
    /// Sent before requests with a lower priority, because the user waits for the response; never shed.
    case high

    /// Whether `left` is less urgent than `right`.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The properties of a request on which the choice of a server may depend.
package struct RequestTraits: Sendable, Hashable {
    /// The urgency of the request; normal by default.
    package var priority: RequestPriority
    /// The key of the session that ``SelectionStrategy/sticky`` keeps on one server, or `nil` if there is no session.
    package var sessionKey: UInt64?
    /// A number that identifies the endpoint of the request, such as a hash of method and path template; 0 by default.
    ///
    /// Durations and failures are recorded for each endpoint (`DetectionRules.perEndpoint`). Requests with equal
    /// numbers count as requests to the same endpoint.
    package var endpoint: UInt32
    /// Whether the request may be sent a second time; `true` by default.
    ///
    /// A request that must not be repeated is not sent to a server on trial as long as repeatable requests test that
    /// server.
    package var mayBeRepeated: Bool
    /// The servers that do not serve the request and must not get it; empty by default.
    package var unsuitable = ServerSet()
    /// The servers that ``SwitchPolicy/selector`` does not name.
    ///
    /// These servers get the request only if no other server can take the request.
    package var unwanted = ServerSet()

    /// The number of servers that the request has certainly not reached; 0 by default.
    ///
    /// Attempts on these servers do not count toward ``SwitchPolicy/maximumAttempts``.
    package var unreached = 0

    /// Creates the traits of a request.
    ///
    /// - Parameters:
    ///   - priority: The urgency of the request; normal by default.
    ///   - session: The name of the session, or `nil` for none. Its hash is the same on every machine and in every run.
    ///   - endpoint: A number that identifies the endpoint; 0 by default.
    ///   - mayBeRepeated: Whether the request may be sent a second time; `true` by default.
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
