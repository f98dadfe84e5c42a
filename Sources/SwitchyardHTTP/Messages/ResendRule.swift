/// The rule for resending a request.
///
/// An unsafe request (POST, PUT, PATCH, DELETE) without an idempotency key is never sent to two servers at the same
/// time, and it is not sent again while an earlier copy may still be executed.
///
/// A server that does not respond may be paused. When it resumes, it executes the requests that it has read, possibly
/// after a newer write request has succeeded on another server. Idempotence (RFC 9110 section 9.2.2) does not help
/// here, because it allows the same request twice in a row, but not with another request in between. So a missing
/// response, a timeout, a cancelled attempt and a connection that fails after sending forbid resending a PUT or DELETE.
/// A connection reset is no exception, because a load balancer may reset a connection while its upstream server still
/// has the request.
///
/// The restriction does not apply to requests with an idempotency key, or if the app declares that the request may be
/// repeated.
package enum ResendRule: Sendable, Hashable, CaseIterable {
    /// The request may be resent at any time, and may be sent to several servers at the same time.
    ///
    /// This rule applies to safe methods (RFC 9110 section 9.2.1), to requests with an idempotency key, and to requests
    /// whose `mayBeRepeated` is `true`.
    case anytime
    /// The request may be resent once no earlier copy can still be executed, because no copy was sent or every copy has
    /// received a final response.
    ///
    /// This rule applies to PUT and DELETE.
    case afterFinalResponse
    /// The request may be resent only if it is certain that no earlier copy was sent.
    ///
    /// This rule applies to POST, PATCH and all other methods, and to requests whose `mayBeRepeated` is `false`.
    case onlyIfUnsent

    /// Creates the rule for a request.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - mayBeRepeated: The app's decision, which takes precedence over the method and the idempotency key; `nil` by
    ///     default.
    ///   - hasIdempotencyKey: Whether the request has an idempotency key; `false` by default.
    package init(_ method: HTTPMethod, mayBeRepeated: Bool? = nil, hasIdempotencyKey: Bool = false) {
        if let mayBeRepeated {
            self = mayBeRepeated ? .anytime : .onlyIfUnsent
        } else if method.isSafe || hasIdempotencyKey {
            self = .anytime
        } else {
            self = method.isIdempotent ? .afterFinalResponse : .onlyIfUnsent
        }
    }

    /// Whether a request may be resent if its earlier copies have a given fate.
    package func allowsResend(after fate: RequestFate) -> Bool {
        switch self {
        case .anytime: true
        case .afterFinalResponse: fate < .open
        case .onlyIfUnsent: fate == .unsent
        }
    }

    /// Whether a request may be resent with other credentials after a 401 response.
    ///
    /// A 401 response means that the request was not executed (RFC 9110 section 15.5.2), so a refused earlier copy does
    /// not prevent resending.
    package func allowsResend(afterChallengeWith fate: RequestFate) -> Bool {
        allowsResend(after: fate) || fate == .refused
    }
}
