/// When a request may be sent again.
///
/// An unsafe request (POST, PUT, PATCH, DELETE) without an idempotency key is never at two servers at once, and it is
/// not sent again while an earlier copy may still be executed.
///
/// A server that is silent may be paused. It executes what it has read when it goes on, which may be after a newer write
/// has succeeded elsewhere. Idempotence (RFC 9110 section 9.2.2) does not help here: it allows the same request twice in
/// a row, not with another request in between. So silence, a timeout, a cancelled attempt and a connection that breaks
/// after sending forbid to send a PUT or DELETE again. A connection reset is no exception: a load balancer resets a
/// connection while the server behind it still holds the request.
///
/// An idempotency key, and the app's word that the request may be repeated, lift the rule.
public enum ResendRule: Sendable, Hashable, CaseIterable {
    /// The request may be sent again at any time, and to several servers at once.
    ///
    /// The rule of safe methods (RFC 9110 section 9.2.1), of requests with an idempotency key, and of requests whose
    /// `mayBeRepeated` is `true`.
    case anytime
    /// The request may be sent again once no earlier copy can still be executed: none was sent, or a server has responded
    /// to it with a final response.
    ///
    /// The rule of PUT and DELETE.
    case afterFinalResponse
    /// The request may be sent again only if it is certain that no earlier copy was sent.
    ///
    /// The rule of POST, PATCH and all other methods, and of requests whose `mayBeRepeated` is `false`.
    case onlyIfUnsent

    /// Creates the rule of a request.
    ///
    /// - Parameters:
    ///   - method: The method that is sent.
    ///   - mayBeRepeated: The app's word, which goes before method and key; none unless given.
    ///   - hasIdempotencyKey: Whether the request has an idempotency key; `false` unless given.
    public init(_ method: HTTPMethod, mayBeRepeated: Bool? = nil, hasIdempotencyKey: Bool = false) {
        if let mayBeRepeated {
            self = mayBeRepeated ? .anytime : .onlyIfUnsent
        } else if method.isSafe || hasIdempotencyKey {
            self = .anytime
        } else {
            self = method.isIdempotent ? .afterFinalResponse : .onlyIfUnsent
        }
    }

    /// Whether a request may be sent again after its earlier copies came to this.
    package func allowsResend(after fate: RequestFate) -> Bool {
        switch self {
        case .anytime: true
        case .afterFinalResponse: fate < .open
        case .onlyIfUnsent: fate == .unsent
        }
    }

    /// Whether the server's demand for other credentials (401) may be met by sending the request again.
    ///
    /// A 401 says that the request was not executed (RFC 9110 section 15.5.2), so an earlier copy that was refused is no
    /// obstacle.
    package func allowsResend(afterChallengeWith fate: RequestFate) -> Bool {
        allowsResend(after: fate) || fate == .refused
    }
}
