/// One sending of a request to one server.
///
/// Evidence is about attempts, not requests: an attempt remembers its server and the server's generation. A generation
/// ends when the server is ejected and when it has recovered; the outcome of an attempt of an older generation changes
/// nothing. Every attempt is settled exactly once.
package struct Attempt: Sendable, Hashable {
    /// Why the attempt is made.
    package enum Role: UInt8, Sendable, Hashable, CaseIterable {
        /// The request's first attempt.
        case first
        /// Another server after a failure, or after the server was ejected with the request still waiting on it.
        case failover
        /// A hedge: another server beside a slow one.
        case hedge
        /// A shadow copy that finds out whether an ejected server works again.
        case probe
        /// A small request to a suspected server, and to another one for confirmation.
        case suspicion
        /// A shadow copy that opens a connection to the first fallback before the connection is needed.
        case warmUp
    }

    private let position: UInt8
    /// The generation of the server.
    package let generation: UInt32
    /// The endpoint that is asked (`RequestTraits.endpoint`).
    package let endpoint: UInt32
    /// Why the attempt is made.
    package let role: Role
    /// Whether it takes one of the places of a trial.
    let holdsTrialPlace: Bool
    /// Whether it was made because of overload, which costs more if it fails as well.
    let followsOverload: Bool
    /// Whether the attempt takes no token, because the previous attempt reached no server.
    let isFree: Bool
    /// The number of timely responses of the server at the start of the attempt.
    let timely: UInt32
    /// When it was chosen.
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
        isFree: Bool = false
    ) {
        position = UInt8(truncatingIfNeeded: server)
        self.generation = generation
        self.endpoint = endpoint
        self.timely = timely
        self.role = role
        self.holdsTrialPlace = holdsTrialPlace
        self.followsOverload = followsOverload
        self.isFree = isFree
        self.startedAt = startedAt
    }

    /// The server, as its position in `SwitchingCore.serverIDs` at the time of the choice.
    package var server: Int { Int(position) }

    /// Whether the attempt has taken a token, or continues with the token of an earlier attempt.
    package var isPaid: Bool { role == .hedge || role == .failover && !isFree }

    /// Whether it went to another server, by the generation: a new list may have moved servers between the two.
    package func isElsewhere(than other: Attempt) -> Bool { generation != other.generation }

    /// The attempt for facts that become known after it was settled; it holds nothing that would be given back twice.
    package var afterwards: Attempt {
        Attempt(server: server, generation: generation, role: .suspicion, endpoint: endpoint, startedAt: startedAt)
    }
}
