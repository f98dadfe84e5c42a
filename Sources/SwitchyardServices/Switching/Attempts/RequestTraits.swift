/// How urgent a request is: among others that wait, and when no server can take them all.
public enum RequestPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// After the others, such as prefetching; given up while every usable server is overloaded, unless the policy says
    /// otherwise.
    case low
    /// The default; given up in proportion to the overload, where the policy asks for that (``AdmissionRules/sheds``).
    case normal
    /// Before the others: what the user waits for. Never given up.
    case high

    /// Whether `left` is less urgent than `right`.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What the choice of a server may depend on.
package struct RequestTraits: Sendable, Hashable {
    /// How much the request matters; default normal.
    package var priority: RequestPriority
    /// The session that ``SelectionStrategy/sticky`` keeps on one server; `nil`: none.
    package var sessionKey: UInt64?
    /// The endpoint that is asked, such as a hash of method and path template; default 0.
    ///
    /// What is known of an endpoint, how long it takes and who fails it, is kept apart from that of others
    /// (``DetectionRules/perEndpoint``). Requests of one number are taken for the same endpoint.
    package var endpoint: UInt32
    /// Whether the request may be sent a second time; default yes.
    ///
    /// One that may not is kept from a server on trial, as long as others try it.
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
