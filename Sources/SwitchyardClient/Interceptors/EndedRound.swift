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

    /// Whether the request may be sent again by its ``APIConfiguration/resendRule``.
    ///
    /// An unsafe request (POST, PUT, PATCH, DELETE) without an idempotency key is never at two servers at once, and it is
    /// not sent again while an earlier copy may still be executed. All attempts of the round count.
    ///
    /// - A safe request, and one with an idempotency key, may be sent again at any time.
    /// - A PUT or DELETE may be sent again after a final response, such as 429, 500 or 503. It may not after 408, 502, 504,
    ///   a timeout, a broken connection or anything else that leaves open what the server does.
    /// - A POST or PATCH may be sent again only if it was certainly not sent, or a server responded with 421 (RFC 9110
    ///   section 15.5.20).
    public var isSafeToRepeat: Bool { resendRule.allowsResend(after: fate) }

    /// The rule of what was sent.
    var resendRule: ResendRule { configuration.resendRule(sending: result.context.method) }

    /// What became of the request in the attempts of the round.
    var fate: RequestFate {
        switch result {
        case .success(let answer):
            max(answer.context.knownFate, RequestFate(status: answer.status, to: answer.context.method))
        case .failure(let failure): max(failure.context.knownFate, failure.reason.fate)
        }
    }
}

extension RequestContext {
    /// The fate, also of a context that an app has made.
    fileprivate var knownFate: RequestFate { mayHaveBeenExecuted && fate < .done ? .open : fate }
}

extension RequestFailure.Reason {
    /// What the reason by itself says of the request.
    fileprivate var fate: RequestFate {
        switch self {
        case .transport(let error): RequestFate(error)
        case .redirect: .done
        default: .unsent
        }
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
