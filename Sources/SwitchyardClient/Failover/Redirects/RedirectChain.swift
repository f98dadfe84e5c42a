import SwitchyardHTTP

/// The redirects of one attempt: the last request, the redirects so far, and the next request.
///
/// A chain is a pure value. It is created at the first redirect, so attempts without redirects store no chain.
struct RedirectChain: Sendable {
    /// The step that follows a redirect.
    enum Step {
        /// The redirect is not followed: it is the response of the request.
        case answer
        /// The redirect is followed with this request.
        case send(HTTPRequest)
    }

    /// The request to which the last response belongs.
    private(set) var request: HTTPRequest
    /// The redirects that have been followed.
    private(set) var steps: [RedirectStep] = []
    /// The origin of the first request.
    ///
    /// All credentials are for this origin.
    private let home: RequestURL.Origin
    private var asked: Set<Visit>
    private var fragment: String?
    /// Whether a redirect has left the origin of the first request.
    ///
    /// A redirect back to that origin does not restore the credentials.
    private(set) var hasLeft = false

    private struct Visit: Hashable {
        var method: HTTPMethod
        var url: String
    }

    init(of request: HTTPRequest, fragment: String? = nil) {
        self.request = request
        self.fragment = fragment
        home = request.url.origin
        asked = [Visit(method: request.method, url: request.url.text)]
    }

    /// Returns what follows a redirect: the request to send, or the redirect as the response to the caller.
    ///
    /// - Parameters:
    ///   - response: The response, for which ``HTTPResponse/redirectTarget`` is not `nil`.
    ///   - policy: The redirect policy of the call.
    ///   - rewrite: A closure that adds the cookies for the target to the next request. If the target has the origin of
    ///     the first request, the closure adds the credentials too.
    /// - Returns: The step that follows the redirect.
    /// - Throws: The reason why the redirect cannot be followed.
    mutating func follow(
        _ response: HTTPResponse,
        _ policy: RedirectPolicy,
        rewrite: (inout HTTPRequest, _ isHome: Bool) throws(RequestError) -> Void
    ) throws(RedirectError) -> Step {
        guard let location = response.redirectTarget else { return .answer }
        if case .refuse = policy.rule { return .answer }
        let url = try target(location)
        var next = request(after: response.status, at: url)
        do throws(RequestError) { try rewrite(&next, !hasLeft && !crosses(to: url)) } catch {
            throw .invalidRequest(error)
        }
        if case .sameOrigin = policy.rule, url.origin != request.url.origin { throw .foreignOrigin(url.origin) }
        if case .own(let decide) = policy.rule {
            switch decide(RedirectPolicy.Proposal(response: response, url: request.url, request: next, steps: steps)) {
            case .refuse: return .answer
            case .follow: break
            case .send(let own):
                // The closure has added header fields. It is not a loop if a URL that was requested without these
                // fields is requested again.
                if own.headers != next.headers { asked.removeAll() }
                next = own
            }
        }
        try enter(next, after: response, location: location, limit: policy.limit)
        return .send(next)
    }

    private func target(_ location: String) throws(RedirectError) -> RequestURL {
        let url: RequestURL
        do throws(RequestError) { url = try request.url.resolving(location) } catch { throw .unusableTarget(error) }
        try checkDowngrade(to: url)
        return url
    }

    private func checkDowngrade(to url: RequestURL) throws(RedirectError) {
        guard url.isSecure || !request.url.isSecure else { throw .insecure(url) }
    }

    private mutating func enter(
        _ next: HTTPRequest,
        after response: HTTPResponse,
        location: String,
        limit: Int
    ) throws(RedirectError) {
        guard steps.count < limit else { throw .tooMany(limit: limit) }
        try checkDowngrade(to: next.url)
        // The response sets a cookie. It is not a loop if a URL that was requested without the cookie is requested
        // again.
        if response.headers["Set-Cookie"] != nil { asked.removeAll() }
        let isNew = asked.insert(Visit(method: next.method, url: next.url.text)).inserted
        guard isNew else { throw .loop(next.url) }
        if let named = location.behind(UInt8(ascii: "#")) { fragment = String(named) }
        steps.append(
            RedirectStep(
                status: response.status,
                from: request.url,
                to: next.url,
                method: next.method,
                fragment: fragment
            )
        )
        hasLeft = hasLeft || crosses(to: next.url)
        request = next
    }
}

// MARK: - Request after a redirect

extension RedirectChain {
    private func request(after status: Int, at url: RequestURL) -> HTTPRequest {
        var next = request
        next.url = url
        let becomesGet =
            switch status {
            case 303: request.method != .get && request.method != .head
            case 301, 302: request.method == .post
            default: false
            }
        if becomesGet {
            next.method = .get
            next.body = .none
            next.headers = HTTPHeaders(next.headers.fields.filter { !Self.describesBody($0.name) })
        }
        guard crosses(to: url) else { return next }
        // A transport would send user information in the URL as a credential, but the server that redirects must not
        // choose credentials.
        next.url = url.withoutUserInfo
        next.headers = HTTPHeaders(next.headers.fields.filter { !Self.belongsHome($0.name) })
        return next
    }

    /// Whether a redirect leaves the origin that credentials are for.
    ///
    /// A redirect from http to https on the same host with default ports does not leave the origin, because servers use
    /// such redirects to require encryption.
    private func crosses(to url: RequestURL) -> Bool {
        let target = url.origin
        if target == home { return false }
        let isUpgrade = home.scheme == "http" && target.scheme == "https" && home.port == 80 && target.port == 443
        return !(isUpgrade && home.host == target.host)
    }

    private static func describesBody(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("content-") || ["transfer-encoding", "expect", "digest", "repr-digest"].contains(name)
    }

    /// Whether a header field is only for the origin of the first request: a credential field or `Host`.
    private static func belongsHome(_ name: String) -> Bool {
        let name = name.lowercased()
        return HTTPHeaders.sensitiveNames.contains(name) || name == "cookie2" || name == "host"
    }
}
