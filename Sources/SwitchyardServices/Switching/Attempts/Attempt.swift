/// One transmission of a request to one server.
///
/// An attempt stores its server and the server's generation. The generation is a number that changes when the server is
/// ejected (taken out of use for a time), when its trial begins and when it recovers. If the generation has changed
/// since the attempt began, the outcome of the attempt changes nothing. The outcome of every attempt is reported to the
/// core exactly once.
package struct Attempt: Sendable, Hashable {
    /// The reason for an attempt.
    package enum Role: UInt8, Sendable, Hashable, CaseIterable {
        /// The request's first attempt.
        case first
        /// An attempt on another server, because an attempt failed or because its server was ejected while the request
        /// was waiting.
        case failover
        /// A hedge: an additional attempt on another server while an attempt is slow.
        case hedge
        /// A shadow read: a copy of a read, which is sent to an ejected server to find out whether it works again. The
        /// response is discarded.
        case probe
        /// One of two suspicion probes: the same safe request to a server that is suspected of failing, and to another
        /// server (``SuspicionProbe``).
        case suspicion
        /// A shadow read to the first fallback server, which opens a connection before it is needed. The response is
        /// discarded.
        case warmUp
    }

    private let position: UInt8
    /// The generation of the server at the start of the attempt.
    package let generation: UInt32
    /// The endpoint of the request (`RequestTraits.endpoint`).
    package let endpoint: UInt32
    /// The reason for the attempt.
    package let role: Role
    /// Whether the attempt occupies a slot of a trial.
    ///
    /// A server on trial has a limited number of slots for concurrent requests.
    let holdsTrialPlace: Bool
    /// Whether the previous attempt failed because of overload.
    ///
    /// If this attempt fails too, it costs the failover budget more tokens.
    let followsOverload: Bool
    /// Whether the attempt costs the failover budget nothing, because the previous attempt reached no server.
    let isFree: Bool
    /// The number of timely responses from the server (``Lateness/timely``) at the start of the attempt.
    let timely: UInt32
    /// The servers that do not serve the request (`RequestTraits.unsuitable`).
    package let unsuitable: ServerSet
    /// The time at which the server was chosen.
    package let startedAt: MonotonicTime

    init(
        server: Int,
        generation: UInt32,
        role: Role,
        endpoint: UInt32 = 0,
        timely: UInt32 = 0,
        startedAt: MonotonicTime,
        holdsTrialPlace: Bool = false,
        followsOverload: Bool = false,
        isFree: Bool = false,
        unsuitable: ServerSet = []
    ) {
        position = UInt8(truncatingIfNeeded: server)
        self.generation = generation
        self.endpoint = endpoint
        self.timely = timely
        self.role = role
        self.holdsTrialPlace = holdsTrialPlace
        self.followsOverload = followsOverload
        self.isFree = isFree
        self.unsuitable = unsuitable
        self.startedAt = startedAt
    }

    /// The server, as its position in `SwitchingCore.serverIDs` at the time of the choice.
    package var server: Int { Int(position) }

    /// Whether the attempt was charged to the failover budget or the hedge budget, or continues a request that an
    /// earlier attempt was charged for.
    package var isPaid: Bool { role == .hedge || role == .failover && !isFree }

    /// Whether the two attempts went to different servers, or to one server before and after its ejection or recovery.
    ///
    /// Generations are compared instead of positions, because a new list may have moved the servers.
    package func isElsewhere(than other: Attempt) -> Bool { generation != other.generation }

    /// A copy of the attempt for a failure that becomes known only after the attempt's outcome was reported, such as a
    /// truncated body.
    ///
    /// The copy holds neither a slot of a trial nor a token of a budget.
    package var afterwards: Attempt {
        Attempt(server: server, generation: generation, role: .suspicion, endpoint: endpoint, startedAt: startedAt)
    }
}
