public import SwitchyardHTTP

/// The result of a round (one try at a request with its failovers and hedges), with everything that a retry decision
/// may depend on.
public struct RoundResult: Sendable {
    /// The call as it was sent, with all changes by interceptors.
    public var configuration: APIConfiguration
    /// The request and round, with the history of earlier rounds.
    public var context: DispatchContext
    /// The response, whatever its status, or the failure.
    public var result: Result<ServiceResponse, RequestFailure>

    /// Creates the result of a round, for testing a retry decision of your own.
    public init(
        configuration: APIConfiguration,
        context: DispatchContext,
        result: Result<ServiceResponse, RequestFailure>
    ) {
        self.configuration = configuration
        self.context = context
        self.result = result
    }

    /// The status of the response, or `nil` if there is no response.
    public var status: Int? {
        if case .success(let answer) = result { answer.status } else { nil }
    }

    /// The transport failure, or `nil` if there is a response or another reason for the failure.
    public var transportError: TransportError? {
        if case .failure(let failure) = result, case .transport(let error) = failure.reason { error } else { nil }
    }

    /// Whether the request may be sent again.
    ///
    /// An unsafe request (POST, PUT, PATCH, DELETE) without an idempotency key is never sent to two servers at the same
    /// time, and it is not sent again while an earlier copy may still be executed. All attempts of the round count.
    ///
    /// - A request with a safe method or an idempotency key may be sent again at any time.
    /// - A PUT or DELETE may be sent again after a final response, such as 429 or 500. It may not be sent again after
    ///   408, 502, 503, 504, a timeout, a broken connection or any other failure after which a server may still execute
    ///   the request.
    /// - A POST or PATCH may be sent again only if it was certainly not sent, or if a server responded with 421 (RFC
    ///   9110 section 15.5.20).
    public var isSafeToRepeat: Bool { resendRule.allowsResend(after: fate) }

    /// The rule that determines when the request may be resent, for the method that was actually sent.
    var resendRule: ResendRule { configuration.resendRule(sending: result.context.method) }

    /// The fate of the request in all attempts of the round: whether a server may have executed it.
    var fate: RequestFate {
        switch result {
        case .success(let answer):
            max(answer.context.knownFate, RequestFate(status: answer.status, to: answer.context.method))
        case .failure(let failure): max(failure.context.knownFate, failure.reason.fate)
        }
    }
}

extension RequestContext {
    /// The fate of the request: whether a server may have executed it.
    ///
    /// The result is also correct for a context that an app has created.
    fileprivate var knownFate: RequestFate { mayHaveBeenExecuted && fate < .done ? .open : fate }
}

extension RequestFailure.Reason {
    /// The fate of a request that failed for this reason, without regard to its attempts: whether a server may have
    /// executed it.
    fileprivate var fate: RequestFate {
        switch self {
        case .transport(let error): RequestFate(error)
        case .redirect: .done
        default: .unsent
        }
    }
}

/// The decision after a request has been tried, with its failovers and hedges.
///
/// Interceptors decide in their order, then the retry policy. The first decision that is not ``undecided`` applies.
public enum RetryDecision: Sendable {
    /// The next interceptor or the retry policy decides. If none of them decides, the request ends with its current
    /// result.
    case undecided
    /// The request is sent again after the pause.
    ///
    /// The request is sent again only if that is safe (``RoundResult/isSafeToRepeat``) and the deadline leaves enough
    /// time. Otherwise the request ends with its current result. To allow a write to be sent again anyway, set
    /// ``APIConfiguration/mayBeRepeated``.
    case retry(after: Duration)
    /// The request ends with its current result, without asking further interceptors or the retry policy.
    case accept
    /// The request ends with this response in place of its current result.
    case answer(HTTPResponse)
    /// The request ends with this error, whatever its current result.
    case fail(any Error)

    /// The request is sent again immediately.
    public static let retryNow = RetryDecision.retry(after: .zero)
}
