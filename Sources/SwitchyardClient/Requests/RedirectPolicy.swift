public import SwitchyardHTTP

/// What becomes of an answer that points elsewhere: 301, 302, 303, 307 or 308 with a `Location`.
///
/// Followed unless set otherwise, 20 times at most (the Fetch standard's number). Whatever the rule: a redirect from
/// https to http, or to anything that is neither, is refused; credentials, cookies and a `Host` of the caller's stay with
/// their origin; a POST becomes a GET after 301 and 302, everything but HEAD becomes a GET after 303, and 307 and 308
/// keep method and body (RFC 9110 section 15.4, Fetch section 4.4).
public struct RedirectPolicy: Sendable {
    /// Decides about one redirect.
    public typealias Decide = @Sendable (RedirectProposal) -> RedirectDecision

    enum Rule: Sendable {
        case follow
        case refuse
        case sameOrigin
        case own(Decide)
    }

    let rule: Rule
    /// The most redirects of one attempt; one more ends the request with ``RedirectError/tooMany(limit:)``.
    public let limit: Int

    /// Redirects are followed, 20 at most; the default.
    public static let follow = RedirectPolicy(rule: .follow, limit: 20)
    /// Redirects are not followed; the 3xx itself is the answer.
    public static let refuse = RedirectPolicy(rule: .refuse, limit: 0)
    /// Redirects are followed to the same scheme, host and port only; others end the request.
    ///
    /// They end it with ``RedirectError/foreignOrigin(_:)``.
    public static let sameOrigin = RedirectPolicy(rule: .sameOrigin, limit: 20)

    /// A closure decides about each redirect.
    ///
    /// - Parameters:
    ///   - limit: The most redirects of one attempt; 20 unless given.
    ///   - decide: Decides; called on a thread of the transport, it must not block.
    /// - Returns: The policy.
    public static func deciding(limit: Int = 20, _ decide: @escaping Decide) -> RedirectPolicy {
        RedirectPolicy(rule: .own(decide), limit: max(0, limit))
    }

    /// Whether redirects are followed without a look at their bodies.
    var decidesByHead: Bool {
        switch rule {
        case .follow, .sameOrigin: true
        case .refuse, .own: false
        }
    }

    /// The policy with another limit; what is below zero is zero.
    public func limited(to limit: Int) -> RedirectPolicy {
        RedirectPolicy(rule: rule, limit: max(0, limit))
    }
}

/// A redirect that could be followed.
public struct RedirectProposal: Sendable {
    /// The answer that points elsewhere; a streamed body is not to be read.
    public var response: HTTPResponse
    /// Where it came from.
    public var url: RequestURL
    /// The request that would follow: method, body and headers as the rules have them.
    public var request: HTTPRequest
    /// The redirects of this attempt that have been followed.
    public var steps: [RedirectStep]

    /// Creates a proposal, to try a rule of one's own with.
    public init(response: HTTPResponse, url: RequestURL, request: HTTPRequest, steps: [RedirectStep] = []) {
        self.response = response
        self.url = url
        self.request = request
        self.steps = steps
    }
}

/// What becomes of a redirect.
public enum RedirectDecision: Sendable {
    /// The proposed request is sent.
    case follow
    /// Another request is sent; it may add the credentials that the proposal is without.
    case send(HTTPRequest)
    /// The 3xx itself is the answer.
    case refuse
}
