import SwitchyardHTTP

/// The redirect chain of one attempt: the last request, the redirects so far, and the next request.
///
/// A pure value that is created for the first redirect of an attempt, so that other attempts do not carry one.
struct RedirectChain: Sendable {
    /// The step after a redirect.
    enum Step {
        /// The redirect itself is the response.
        case answer
        /// This request is sent next.
        case send(HTTPRequest)
    }

    /// The request of the last response.
    private(set) var request: HTTPRequest
    /// The redirects that have been followed.
    private(set) var steps: [RedirectStep] = []
    /// The origin of the first request, to which all credentials belong.
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

    /// Returns the step after a response.
    ///
    /// - Parameters:
    ///   - response: The response, for which ``HTTPResponse/redirectTarget`` is not `nil`.
    ///   - policy: The caller's policy.
    ///   - rewrite: Adds the target's cookies and, at their own origin, the credentials to the next request.
    /// - Returns: The step.
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
            switch decide(RedirectProposal(response: response, url: request.url, request: next, steps: steps)) {
            case .refuse: return .answer
            case .follow: break
            case .send(let own):
                // Header fields that the caller adds may be the missing ones, so the repetition is not a loop.
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
        // A page that was requested without a cookie is requested again after the cookie is set, which is not a loop.
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
        // A transport would send it as a credential, and the sender of the redirect would choose whose.
        next.url = url.withoutUserInfo
        next.headers = HTTPHeaders(next.headers.fields.filter { !Self.belongsHome($0.name) })
        return next
    }

    /// Whether a step leaves the origin that credentials belong to.
    ///
    /// The step from http to https on one host with default ports does not leave it, because servers use it to require
    /// encryption.
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

    /// Whether a field is sent to the origin of the first request only: a credential or a `Host` name.
    private static func belongsHome(_ name: String) -> Bool {
        let name = name.lowercased()
        return HTTPHeaders.sensitiveNames.contains(name) || name == "cookie2" || name == "host"
    }
}
