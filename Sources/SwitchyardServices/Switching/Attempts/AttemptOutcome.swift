/// How an attempt ended, as far as that says something about its server.
package enum AttemptOutcome: Sendable, Hashable {
    /// A whole answer came, after this time.
    case success(latency: Duration)
    /// An answer came that proves the path and nothing more: 4xx other than 408, 421 and 425.
    case answered
    /// The attempt failed; the server may have said when to come back.
    case failure(FailureKind, retryAfter: Duration? = nil)
    /// The attempt was still under way when another attempt of the request answered, or the caller or the deadline ended
    /// the request, and was given up.
    ///
    /// Where none answered it says nothing about the server, but what it cost (``BudgetRules``) does not come back: the
    /// server may be at work on it.
    case unfinished
    /// It says nothing about the server, which is at work on nothing: offline, a malformed request, a body that could
    /// not be decoded or was refused by a validator.
    case neutral

    /// Creates the outcome of a whole HTTP answer.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - latency: The time from sending to the whole answer.
    ///   - retryAfter: What the header of that name says.
    ///   - meaning: What 429 says; the caller's quota unless given.
    package init(
        status: Int,
        latency: Duration,
        retryAfter: Duration? = nil,
        tooManyRequests meaning: TooManyRequests = .quota
    ) {
        switch status {
        case 429 where meaning == .quota: self = .answered
        case 408, 421, 425, 429, 500...: self = .failure(.http(status), retryAfter: retryAfter)
        case 400..<500: self = .answered
        default: self = .success(latency: latency)
        }
    }

    /// The kind of failure, if it was one.
    package var failureKind: FailureKind? {
        if case .failure(let kind, _) = self { kind } else { nil }
    }

    /// Whether it says nothing about the server and cost it nothing.
    package var isNeutral: Bool {
        if case .neutral = self { true } else { false }
    }

    /// Whether an answer came that can be given to the caller.
    package var isAnswer: Bool {
        switch self {
        case .success, .answered: true
        default: false
        }
    }
}

/// An attempt and how it ended.
package struct SettledAttempt: Sendable, Hashable {
    /// The attempt.
    package var attempt: Attempt
    /// How it ended.
    package var outcome: AttemptOutcome

    /// Creates the pair.
    package init(_ attempt: Attempt, _ outcome: AttemptOutcome) {
        self.attempt = attempt
        self.outcome = outcome
    }
}
