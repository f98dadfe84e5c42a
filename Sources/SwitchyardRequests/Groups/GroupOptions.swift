public import Dispatch
import SwitchyardAPI
import SwitchyardClient
public import SwitchyardServices

/// The rule that decides when a group ends and what its outcome is.
public enum GroupPolicy: Sendable, Hashable {
    /// The group ends when every member has ended.
    ///
    /// The outcome is ``GroupOutcome/succeeded`` if all members have succeeded, otherwise
    /// ``GroupOutcome/partial(failed:)``.
    case collectAll
    /// The group fails at the first member that fails or is cancelled, and the other members are cancelled.
    ///
    /// The group succeeds when all members have succeeded.
    case failFast
    /// The group succeeds at the first member that succeeds, and the other members are cancelled.
    ///
    /// If no member succeeds, the group fails. A group without members succeeds.
    case firstSuccess
    /// The group succeeds when this number of members have succeeded, and the other members are cancelled.
    ///
    /// The group fails as soon as fewer than this number of members can still succeed. If the number is 0, the group
    /// succeeds when it starts.
    case quorum(Int)
}

/// The options of a group, batch, chain or graph.
public struct GroupOptions: Sendable {
    /// The rule that decides when the group ends and what its outcome is.
    public var policy: GroupPolicy
    /// The maximum number of members that run at the same time, at least 1.
    ///
    /// If `nil`, there is no maximum.
    public var limit: Int?
    /// The maximum duration of the whole group.
    ///
    /// If `nil`, only the timeouts of the members apply.
    public var timeout: Duration?
    /// The tags that observers (``RequestAccessory``) of the group receive, none by default.
    public var tags: Set<String>
    /// The queue on which all callbacks of the group are called, one after the other.
    ///
    /// It is the main queue by default.
    public var queue: DispatchQueue
    /// The clock that measures the timeout, the system's clock by default.
    public var time: any TimeSource

    /// Creates the options of a group.
    ///
    /// The default values are those of the properties.
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

/// The outcome of a group as a whole.
public enum GroupOutcome: Sendable, Hashable {
    /// The group has succeeded according to its policy.
    ///
    /// With ``GroupPolicy/collectAll`` and ``GroupPolicy/failFast``, every member has succeeded.
    case succeeded
    /// Every member has ended, and the members at these positions have failed or were cancelled.
    ///
    /// Only ``GroupPolicy/collectAll`` leads to this outcome.
    case partial(failed: [Int])
    /// The group can no longer succeed.
    ///
    /// The value `member` is the position of the member whose failure made the group fail, or `nil` if no member caused
    /// it.
    case failed(member: Int?)
    /// The group was cancelled.
    case cancelled
    /// The group's timeout passed before the group ended.
    case timedOut
}

/// The outcome of a group and the outcomes of its members.
public struct GroupReport: Sendable, Hashable {
    /// The outcome of the group.
    public var outcome: GroupOutcome
    /// The outcomes of the members, in the order in which they were added.
    public var members: [MemberOutcome]

    /// Creates a report from the outcomes of a group and its members.
    public init(outcome: GroupOutcome, members: [MemberOutcome]) {
        self.outcome = outcome
        self.members = members
    }

    /// The outcome of the member that made the group fail, or `nil` if no member caused the failure.
    public var failure: MemberOutcome? {
        if case .failed(let member?) = outcome, members.indices.contains(member) { members[member] } else { nil }
    }
}

/// The number of members of a group that have ended, and the number of all members.
public struct GroupProgress: Sendable, Hashable {
    /// The number of members that have ended.
    public var ended: Int
    /// The number of all members.
    public var total: Int

    /// Creates a progress value from the two numbers.
    public init(ended: Int, total: Int) {
        self.ended = ended
        self.total = total
    }

    /// The fraction of members that have ended, from 0 to 1.
    ///
    /// It is 1 for an empty group.
    public var fraction: Double { total > 0 ? Double(ended) / Double(total) : 1 }
}
