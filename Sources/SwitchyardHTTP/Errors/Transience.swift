/// Whether a failure is transient, so that the same request may succeed later without a change to it.
///
/// Retries (`RetryPolicy`), errors (`APIError.isRetryable`), stored responses that replace an error, uploads,
/// downloads, event sources, stored write requests and token refreshes all follow this rule. The rule does not
/// determine whether a request may be resent, because that depends on the request's method, its idempotency key and
/// what is known about its earlier attempts (``RequestFate``).
///
/// | status | transience | source |
/// |---|---|---|
/// | 408 Request Timeout | transient | RFC 9110 section 15.5.9 |
/// | 425 Too Early | transient | RFC 8470 section 5.2 |
/// | 429 Too Many Requests | transient | RFC 6585 section 4 |
/// | all other 4xx | permanent | RFC 9110 section 15.5: the client seems to have erred |
/// | 501 Not Implemented | permanent | RFC 9110 section 15.6.2 |
/// | 505 HTTP Version Not Supported | permanent | RFC 9110 section 15.6.6 |
/// | 506 Variant Also Negotiates | permanent | RFC 2295 section 8.1: the server is misconfigured |
/// | 508 Loop Detected | permanent | RFC 5842 section 7.2: the resource itself contains the loop |
/// | 510 Not Extended | permanent | RFC 2774 section 7: the request lacks an extension |
/// | 507 Insufficient Storage | transient | RFC 4918 section 11.5: "considered to be temporary" |
/// | 511 Network Authentication Required | transient | RFC 6585 section 6: the network returns it, not the server |
/// | all others from 500, such as 520 to 530 | transient | RFC 9110 section 15: an unknown status is treated as 500 |
package enum Transience: Sendable, Hashable, CaseIterable {
    /// The same request may succeed later.
    case transient
    /// Whether a later request may succeed is unknown.
    ///
    /// Single requests are not retried after such a failure. Long-lived operations such as an event source continue
    /// within their limits.
    case indeterminate
    /// The same request fails again until the app, its settings or the server is changed. Responses that are not
    /// failures have this value too.
    case permanent
}

extension Transience {
    /// Returns the transience of a response by its status.
    ///
    /// - Parameter status: The status of the response. A status below 400 is not a failure and is ``permanent``.
    package init(status: Int) {
        self = Self.statuses.contains(status) ? .transient : .permanent
    }

    /// Returns the transience of a transport failure.
    ///
    /// - Parameter kind: The kind of failure.
    package init(_ kind: TransportError.Kind) {
        self =
            switch kind {
            case .dnsFailure, .connectionRefused, .connectTimeout, .timeout, .connectionReset, .truncated,
                .protocolViolation, .tlsFailure, .proxyFailure, .offline, .resourcesExhausted:
                .transient
            case .certificateRejected, .headersTooLarge, .decodingFailed, .other: .indeterminate
            case .cancelled, .bodyTooLarge, .requestBodyFailed, .invalidRequest, .unsupported, .closed: .permanent
            }
    }

    /// The statuses of responses that are transient failures.
    package static let statuses: Set<Int> = Set([408, 425, 429]).union(500...999).subtracting(permanentServerErrors)

    /// The kinds of transport failure that are transient.
    package static let kinds = Set(TransportError.Kind.allCases.filter { Self($0) == .transient })

    /// The statuses of 500 and above that are permanent failures.
    private static let permanentServerErrors: Set<Int> = [501, 505, 506, 508, 510]
}
