public import Dispatch
import SwitchyardAPI
import SwitchyardClient
public import SwitchyardServices

/// The rule that decides when a group ends, and with which outcome.
public enum GroupPolicy: Sendable, Hashable {
    /// The group ends when every member has ended; it succeeds if all members have succeeded, and partly otherwise.
    case collectAll
    /// The group fails at the first member that fails or is cancelled, and the other members are cancelled.
    ///
    /// It succeeds when all members have succeeded.
    case failFast
    /// The group succeeds at the first member that succeeds, and the other members are cancelled.
    ///
    /// If no member succeeds, the group fails. A group without members succeeds.
    case firstSuccess
    /// The group succeeds when this number of members have succeeded, and the other members are cancelled.
    ///
    /// The group fails as soon as too few members are left. If the number is 0, the group succeeds when it starts.
    case quorum(Int)
}

/// The options of a group, batch, chain or graph.
public struct GroupOptions: Sendable {
    /// The rule that decides when the group ends, and with which outcome.
    public var policy: GroupPolicy
    /// The maximum number of members that run at once, at least 1, or `nil` for no maximum.
    public var limit: Int?
    /// The time that the group may take in total, or `nil` for no limit other than those of its members.
    public var timeout: Duration?
    /// The tags for accessories, none by default.
    public var tags: Set<String>
    /// The queue on which all callbacks of the group come, one after the other, the main queue by default.
    public var queue: DispatchQueue
    /// The clock of the timeout, by default the system's.
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

/// The outcome of a group.
public enum GroupOutcome: Sendable, Hashable {
    /// The group has succeeded according to its policy.
    ///
    /// With ``GroupPolicy/collectAll`` and ``GroupPolicy/failFast``, every member has succeeded.
    case succeeded
    /// Every member has ended, as ``GroupPolicy/collectAll`` requires, and the members at these positions have failed
    /// or were cancelled.
    case partial(failed: [Int])
    /// The group can no longer succeed; `member` is the position of the member that decided this, or `nil` if none did.
    case failed(member: Int?)
    /// The group was cancelled.
    case cancelled
    /// The group's timeout passed.
    case timedOut
}

/// The outcomes of a group and of each of its members.
public struct GroupReport: Sendable, Hashable {
    /// The outcome of the group.
    public var outcome: GroupOutcome
    /// The outcomes of the members, in the order in which they were added.
    public var members: [MemberOutcome]

    /// Creates a report.
    public init(outcome: GroupOutcome, members: [MemberOutcome]) {
        self.outcome = outcome
        self.members = members
    }

    /// The outcome of the member that made the group fail, or `nil` if there is no such member.
    public var failure: MemberOutcome? {
        if case .failed(let member?) = outcome, members.indices.contains(member) { members[member] } else { nil }
    }
}

/// The progress of a group.
public struct GroupProgress: Sendable, Hashable {
    /// The number of members that have ended.
    public var ended: Int
    /// The number of all members.
    public var total: Int

    /// Creates a progress value.
    public init(ended: Int, total: Int) {
        self.ended = ended
        self.total = total
    }

    /// The fraction of members that have ended, from 0 to 1, which is 1 for an empty group.
    public var fraction: Double { total > 0 ? Double(ended) / Double(total) : 1 }
}
