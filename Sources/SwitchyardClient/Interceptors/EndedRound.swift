public import SwitchyardHTTP

/// A round that has ended, with all that a decision about a retry may depend on.
public struct EndedRound: Sendable {
    /// What was sent, after all changes.
    public var configuration: APIConfiguration
    /// Which request and round it was, and what came before.
    public var context: DispatchContext
    /// The answer, whatever its status, or why there is none.
    public var result: Result<ServiceResponse, RequestFailure>

    /// Creates the end of a round, to try a decision of one's own with.
    public init(
        configuration: APIConfiguration,
        context: DispatchContext,
        result: Result<ServiceResponse, RequestFailure>
    ) {
        self.configuration = configuration
        self.context = context
        self.result = result
    }

    /// The status of the answer; `nil` when none came.
    public var status: Int? {
        if case .success(let answer) = result { answer.status } else { nil }
    }

    /// The failure below HTTP; `nil` when an answer came, or something else prevented it.
    public var transportError: TransportError? {
        if case .failure(let failure) = result, case .transport(let error) = failure.reason { error } else { nil }
    }

    /// Whether the request may be sent again without the risk of doing twice what was meant once.
    ///
    /// So when it is idempotent (``APIConfiguration/isIdempotent``), or when it got no answer and it is certain that no
    /// server has carried it out (``RequestFailure/mayHaveBeenExecuted``).
    public var isSafeToRepeat: Bool {
        if configuration.isIdempotent { return true }
        guard case .failure(let failure) = result, !failure.mayHaveBeenExecuted else { return false }
        return transportError.map { !$0.mayHaveBeenSent } ?? true
    }
}

/// What follows from the end of a round.
///
/// Interceptors are asked in their order, then the retry policy; the first that is not ``undecided`` decides.
public enum RetryDecision: Sendable {
    /// The next one decides; when none does, the round's end is the request's.
    case undecided
    /// The request is sent again, in a new round after the pause.
    ///
    /// Only if that is safe (``EndedRound/isSafeToRepeat``) and the deadline leaves the time; otherwise the round's end is
    /// the request's. For a write that may be repeated all the same, set ``APIConfiguration/mayBeRepeated``.
    case retry(after: Duration)
    /// The round's end is the request's end; nobody else is asked.
    case accept
    /// The request ends with this answer in the place of the round's.
    case answer(HTTPResponse)
    /// The request ends with this error, whatever the round brought.
    case fail(any Error)

    /// The request is sent again at once.
    public static let retryNow = RetryDecision.retry(after: .zero)
}
