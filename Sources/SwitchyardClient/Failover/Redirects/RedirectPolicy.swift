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

/// A redirect that was followed.
public struct RedirectStep: Sendable, Hashable {
    /// The status of the answer.
    public var status: Int
    /// The URL that gave it.
    public var from: RequestURL
    /// The URL that was asked next.
    public var to: RequestURL
    /// The method with which it was asked.
    public var method: HTTPMethod
    /// The fragment of the URL that was asked next, which is never sent; `nil` when there is none.
    ///
    /// A target without one inherits that of the URL before (RFC 9110 section 10.2.2).
    public var fragment: String?

    /// Creates a step.
    public init(status: Int, from: RequestURL, to: RequestURL, method: HTTPMethod, fragment: String? = nil) {
        self.status = status
        self.from = from
        self.to = to
        self.method = method
        self.fragment = fragment
    }
}

extension RedirectStep {
    /// A request and where redirects have led from it, in words.
    ///
    /// A redirect that makes a GET of a write is named as one: what answers then may be quite another thing than what was
    /// asked for.
    ///
    /// - Parameters:
    ///   - method: The method that was asked with first.
    ///   - steps: The redirects.
    ///   - shown: The text of a URL as it is to be shown.
    /// - Returns: The way, as in `POST http://a.example/x, 302 turned it into GET http://a.example/x/`.
    package static func way(
        of method: HTTPMethod,
        along steps: [RedirectStep],
        _ shown: (String) -> String
    ) -> String {
        guard let first = steps.first else { return method.name }
        var (way, last) = ("\(method) \(shown(first.from.text))", method)
        for step in steps {
            way += step.method == last ? ", \(step.status) led to " : ", \(step.status) turned it into \(step.method) "
            way += shown(step.to.text)
            last = step.method
        }
        return way
    }
}

extension RedirectStep: CustomStringConvertible {
    /// The status and both URLs, with credentials hidden.
    public var description: String {
        "\(status) from \(Redaction.standard.url(from.text)) to \(method) \(Redaction.standard.url(to.text))"
    }
}

/// Why a redirect was not followed and no answer could be given either.
public enum RedirectError: Error, Sendable, Hashable {
    /// More redirects than the policy allows.
    case tooMany(limit: Int)
    /// The same URL was asked the same way before, and nothing has changed since.
    case loop(RequestURL)
    /// From https to http, where everything could be read along the way.
    case insecure(RequestURL)
    /// To another origin, which the policy forbids.
    case foreignOrigin(RequestURL.Origin)
    /// To something that cannot be asked: `file:`, `javascript:`, a URL without host.
    case unusableTarget(RequestError)
    /// The request after it could not be built.
    case invalidRequest(RequestError)
}

extension RedirectError: CustomStringConvertible {
    /// What was wrong, without queries and passwords.
    public var description: String {
        switch self {
        case .tooMany(let limit): "more than \(limit) redirects"
        case .loop(let url): "redirects go round in a circle at \(Redaction.place(url.text))"
        case .insecure(let url): "a redirect leads from https to \(Redaction.place(url.text))"
        case .foreignOrigin(let origin): "a redirect leads to another origin, \(origin)"
        case .unusableTarget(let error): "a redirect leads nowhere: \(error)"
        case .invalidRequest(let error): "the request after a redirect cannot be built: \(error)"
        }
    }
}

extension RedirectStep: Discreet {}
extension RedirectError: Discreet {}
