/// The outcome of an attempt, as evidence about the server.
package enum AttemptOutcome: Sendable, Hashable {
    /// A complete response arrived. `latency` is the time until its end.
    case success(latency: Duration)
    /// A response arrived that proves only that the network path works.
    ///
    /// It has a 4xx status other than 408, 421 and 425 (and other than 429, if the service defines 429 as overload), or
    /// it exceeds a limit that the app sets.
    case answered
    /// The attempt failed; `retryAfter` is the value of the `Retry-After` header field, if the server sent this field.
    case failure(FailureKind, retryAfter: Duration? = nil)
    /// The attempt was in flight when another attempt of the request succeeded, or when the app or the deadline ended
    /// the request.
    ///
    /// If no attempt succeeded, the outcome says nothing about the server. The budget does not get the attempt's token
    /// back (`BudgetRules`), because the server may still be working on the request.
    case unfinished
    /// The outcome says nothing about the server, and the server is not working on the request.
    ///
    /// For example, the machine is offline, the proxy has failed, or the request is malformed.
    case neutral

    /// Creates the outcome of a complete HTTP response.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - latency: The time from sending to the complete response.
    ///   - retryAfter: The value of the header field `Retry-After`.
    ///   - meaning: The meaning of status 429. The default is the caller's quota.
    package init(
        status: Int,
        latency: Duration,
        retryAfter: Duration? = nil,
        tooManyRequests meaning: SwitchPolicy.TooManyRequests = .quota
    ) {
        switch status {
        case 429 where meaning == .quota: self = .answered
        case 408, 421, 425, 429, 500...: self = .failure(.http(status), retryAfter: retryAfter)
        case 400..<500: self = .answered
        default: self = .success(latency: latency)
        }
    }

    /// Creates the outcome of a failure below HTTP.
    ///
    /// Faults of the server, or of the network to the server, count against the server. Faults of the app, the request,
    /// the proxy or this machine do not count against the server (``WireFailure/fault``).
    package init(_ failure: WireFailure) {
        switch failure.fault {
        case .server: self = .failure(.wire(failure == .decodingFailed ? .protocolViolation : failure))
        case .caller: self = .answered
        case .machine: self = .neutral
        }
    }

    /// The kind of failure, or `nil` if the attempt did not fail.
    package var failureKind: FailureKind? {
        if case .failure(let kind, _) = self { kind } else { nil }
    }

    /// Whether the outcome says nothing about the server and the server did no work.
    package var isNeutral: Bool {
        if case .neutral = self { true } else { false }
    }

    /// Whether a response arrived that can be returned to the caller.
    package var isAnswer: Bool {
        switch self {
        case .success, .answered: true
        default: false
        }
    }
}

/// An attempt and its outcome, which are reported to the core together.
package struct SettledAttempt: Sendable, Hashable {
    package var attempt: Attempt
    /// The outcome of the attempt.
    package var outcome: AttemptOutcome

    package init(_ attempt: Attempt, _ outcome: AttemptOutcome) {
        self.attempt = attempt
        self.outcome = outcome
    }
}
