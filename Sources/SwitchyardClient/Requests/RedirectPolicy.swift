public import SwitchyardHTTP

/// The handling of redirects: responses with status 301, 302, 303, 307 or 308 and a `Location`.
///
/// By default, up to 20 redirects are followed (the number of the Fetch standard). Every policy follows these rules
/// (RFC 9110 section 15.4, Fetch section 4.4):
///
/// - A redirect from https to http is refused, and so is a redirect to a scheme other than http and https.
/// - Credentials, cookies and a `Host` field of the call are sent only to their own origin.
/// - After 301 and 302, a POST becomes a GET.
/// - After 303, every method except HEAD becomes a GET.
/// - After 307 and 308, method and body stay the same.
public struct RedirectPolicy: Sendable {
    /// Decides whether one redirect is followed.
    public typealias Decide = @Sendable (RedirectPolicy.Proposal) -> RedirectPolicy.Decision

    enum Rule: Sendable {
        case follow
        case refuse
        case sameOrigin
        case own(Decide)
    }

    let rule: Rule
    /// The maximum number of redirects of one attempt.
    ///
    /// A further redirect ends the request with ``RedirectError/tooMany(limit:)``.
    public let limit: Int

    /// Up to 20 redirects are followed, which is the default.
    public static let follow = RedirectPolicy(rule: .follow, limit: 20)
    /// Redirects are not followed, so the 3xx itself is the response.
    public static let refuse = RedirectPolicy(rule: .refuse, limit: 0)
    /// Redirects are followed only to the same scheme, host and port.
    ///
    /// Any other redirect ends the request with ``RedirectError/foreignOrigin(_:)``.
    public static let sameOrigin = RedirectPolicy(rule: .sameOrigin, limit: 20)

    /// Returns a policy with a closure that decides about each redirect.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of redirects of one attempt, 20 by default.
    ///   - decide: Decides about one redirect. It is called on a thread of the transport and must not block.
    /// - Returns: The policy.
    public static func deciding(limit: Int = 20, _ decide: @escaping Decide) -> RedirectPolicy {
        RedirectPolicy(rule: .own(decide), limit: max(0, limit))
    }

    /// Whether the policy decides about a redirect without its body, so that the body need not be read.
    var decidesByHead: Bool {
        switch rule {
        case .follow, .sameOrigin: true
        case .refuse, .own: false
        }
    }

    /// Returns the policy with another limit.
    ///
    /// A negative limit counts as zero.
    public func limited(to limit: Int) -> RedirectPolicy {
        RedirectPolicy(rule: rule, limit: max(0, limit))
    }
}

extension RedirectPolicy {
    /// A redirect that could be followed.
    public struct Proposal: Sendable {
        /// The redirect response.
        ///
        /// If its body is streamed, do not read the body.
        public var response: HTTPResponse
        /// The URL that responded.
        public var url: RequestURL
        /// The next request if the redirect is followed, with method, body and headers according to the rules of HTTP.
        public var request: HTTPRequest
        /// The redirects of this attempt that have been followed.
        public var steps: [RedirectStep]

        /// Creates a proposal, for testing a policy of your own.
        package init(response: HTTPResponse, url: RequestURL, request: HTTPRequest, steps: [RedirectStep] = []) {
            self.response = response
            self.url = url
            self.request = request
            self.steps = steps
        }
    }
}

extension RedirectPolicy {
    /// The decision about a redirect.
    public enum Decision: Sendable {
        /// The proposed request is sent.
        case follow
        /// This request is sent in place of the proposed request. It may contain credentials that the proposed request
        /// lacks.
        case send(HTTPRequest)
        /// The 3xx itself is the response.
        case refuse
    }
}
