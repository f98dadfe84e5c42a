/// One sending of a request to one server.
///
/// The attempt, not the request, is what evidence is about: it remembers which server it went to, and in which generation
/// of that server. A generation ends when the server is ejected and when it has recovered; what comes back from an older
/// one changes nothing. Every attempt is settled exactly once.
package struct Attempt: Sendable, Hashable {
    /// Why the attempt is made.
    package enum Role: UInt8, Sendable, Hashable, CaseIterable {
        /// The request's first attempt.
        case first
        /// Another server after a failure, or after the server was ejected with the request still waiting on it.
        case failover
        /// Another server beside one that is slow.
        case hedge
        /// A shadow copy that finds out whether an ejected server works again.
        case probe
        /// A small request to a server that is suspected, and to another one as a witness.
        case suspicion
        /// A shadow copy that opens a connection to the first fallback, before it is needed.
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
    /// Whether it takes no token, since the attempt before it has reached nobody.
    let isFree: Bool
    /// How many timely answers its server had given by then.
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

    /// Whether it has taken a token, or goes on by that of an attempt before it.
    package var isPaid: Bool { role == .hedge || role == .failover && !isFree }

    /// Whether it went to another server, by the generation: a new list may have moved servers between the two.
    package func isElsewhere(than other: Attempt) -> Bool { generation != other.generation }

    /// The same attempt, for what becomes known of it after it was settled; it holds nothing that would be given back a
    /// second time.
    package var afterwards: Attempt {
        Attempt(server: server, generation: generation, role: .suspicion, endpoint: endpoint, startedAt: startedAt)
    }
}
