/// What the choice of a server may depend on.
public struct RequestTraits: Sendable, Hashable {
    /// How much a request matters when no server can take them all.
    public enum Priority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
        /// Given up first, as soon as every usable server is overloaded.
        case low
        /// Given up in proportion to the overload.
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

    /// Creates traits.
    ///
    /// - Parameters:
    ///   - priority: How much the request matters; normal unless given.
    ///   - session: The name of the session, none unless given; its hash is the same on every machine and in every run.
    public init(priority: Priority = .normal, session: String? = nil) {
        self.priority = priority
        sessionKey = session.map { StableHash.of($0) }
    }
}
