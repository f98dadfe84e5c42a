public import Dispatch
import SwitchyardAPI
import SwitchyardClient
public import SwitchyardServices

/// When a group is done, and with which outcome.
public enum GroupPolicy: Sendable, Hashable {
    /// When every member has ended, whatever its outcome; the group succeeds when all have, and else in part.
    case collectAll
    /// At the first member that fails or is cancelled: the others are cancelled and the group fails. Otherwise when all
    /// have succeeded.
    case failFast
    /// At the first member that succeeds: the others are cancelled. When none does the group fails; one without members
    /// succeeds.
    case firstSuccess
    /// When so many members have succeeded: the others are cancelled. The group fails as soon as too few are left; of 0
    /// it succeeds at its start.
    case quorum(Int)
}

/// How a group, batch, chain or graph goes about its members.
public struct GroupOptions: Sendable {
    /// When it is done, and with which outcome.
    public var policy: GroupPolicy
    /// How many members are under way at once, at least 1; all of them when `nil`.
    public var limit: Int?
    /// How long it may take in all; as long as its members when `nil`.
    public var timeout: Duration?
    /// Names for accessories; none unless set.
    public var tags: Set<String>
    /// Where everything of the group comes, one after the other; the main queue unless set.
    public var queue: DispatchQueue
    /// The clock of the timeout; the system's unless set.
    public var time: any TimeSource

    /// Creates options.
    public init(
        policy: GroupPolicy,
        limit: Int? = nil,
        timeout: Duration? = nil,
        tags: Set<String> = [],
        queue: DispatchQueue = .main,
        time: any TimeSource = SystemTime.shared
    ) {
        self.policy = policy
        self.limit = limit
        self.timeout = timeout
        self.tags = tags
        self.queue = queue
        self.time = time
    }
}

/// How a group ended.
public enum GroupOutcome: Sendable, Hashable {
    /// As its policy asks for: with ``GroupPolicy/collectAll`` and ``GroupPolicy/failFast`` every member has succeeded.
    case succeeded
    /// Every member has ended, as ``GroupPolicy/collectAll`` asks for, and those at these positions have failed or were
    /// cancelled.
    case partial(failed: [Int])
    /// It cannot succeed any more; `member` is the position of the one that decided, `nil` when none did.
    case failed(member: Int?)
    /// It was cancelled.
    case cancelled
    /// Its timeout passed.
    case timedOut
}

/// What became of a group and of each of its members.
public struct GroupReport: Sendable, Hashable {
    /// How the group ended.
    public var outcome: GroupOutcome
    /// How the members ended, in the order in which they were added.
    public var members: [MemberOutcome]

    /// Creates a report.
    public init(outcome: GroupOutcome, members: [MemberOutcome]) {
        self.outcome = outcome
        self.members = members
    }

    /// The outcome of the member that made the group fail; `nil` when none did, or there is no such member.
    public var failure: MemberOutcome? {
        if case .failed(let member?) = outcome, members.indices.contains(member) { members[member] } else { nil }
    }
}

/// How far a group has come.
public struct GroupProgress: Sendable, Hashable {
    /// Members that have ended.
    public var ended: Int
    /// Members in all.
    public var total: Int

    /// Creates a report.
    public init(ended: Int, total: Int) {
        self.ended = ended
        self.total = total
    }

    /// The share done, 0 to 1; an empty group is done from the start.
    public var fraction: Double { total > 0 ? Double(ended) / Double(total) : 1 }
}
