/// What the choice of a server may depend on.
public struct RequestTraits: Sendable, Hashable {
    /// How much a request matters when no server can take them all.
    public enum Priority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
        /// Given up while every usable server is overloaded, unless the policy says otherwise.
        case low
        /// Given up in proportion to the overload, where the policy asks for that (``AdmissionRules/sheds``).
        case normal
        /// Never given up.
        case high

        /// Whether `left` is given up before `right`.
        public static func < (left: Priority, right: Priority) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// How much the request matters; default normal.
    public var priority: Priority
    /// The session that ``SelectionStrategy/sticky`` keeps on one server; `nil`: none.
    public var sessionKey: UInt64?
    /// The endpoint that is asked, such as a hash of method and path template; default 0.
    ///
    /// What is known of an endpoint, how long it takes and who fails it, is kept apart from that of others
    /// (``DetectionRules/perEndpoint``). Requests of one number are taken for the same endpoint.
    public var endpoint: UInt32
    /// Whether the request may be sent a second time; default yes.
    ///
    /// One that may not is kept from a server on trial, as long as others try it.
    public var mayBeRepeated: Bool

    /// Creates traits.
    ///
    /// - Parameters:
    ///   - priority: How much the request matters; normal unless given.
    ///   - session: The name of the session, none unless given; its hash is the same on every machine and in every run.
    ///   - endpoint: The endpoint that is asked; 0 unless given.
    ///   - mayBeRepeated: Whether it may be sent a second time; yes unless given.
    public init(
        priority: Priority = .normal,
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
