public import SwitchyardAPI

/// Where a request object stands.
///
///     initialized --resume--> resumed --answer--> finished
///          |    <--suspend-- / \ --suspend--> suspended --resume--> resumed
///          \_________________ cancel ________________ cancelled
public enum RequestState: String, Sendable, Hashable, CaseIterable {
    /// Made, and not started yet.
    case initialized
    /// Started and on its way.
    case resumed
    /// Held: one that was not started will not be sent, one that was will not report before it is resumed.
    case suspended
    /// Ended by a cancel, for good.
    case cancelled
    /// Ended with a value or an error, for good.
    case finished

    /// Whether the request has ended.
    public var isTerminal: Bool { self == .cancelled || self == .finished }
}

/// How a member of a group ended.
public enum MemberOutcome: Sendable, Hashable {
    /// With a value.
    case succeeded
    /// With an error.
    case failed(APIError.Reason)
    /// By a cancel, its own or the group's.
    case cancelled

    /// Whether it ended with a value.
    public var isSuccess: Bool { self == .succeeded }
}
