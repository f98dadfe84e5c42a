import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension Failover {
    /// Sends an attempt to the target of its redirect.
    ///
    /// If the target is outside the service, the redirect response counts as the result of the server. Otherwise, the
    /// result at the end of the redirect chain counts.
    ///
    /// - Returns: `false` if the redirect is not followed and the response is the result.
    func follow(_ response: HTTPResponse, of index: Int, startedAt: MonotonicTime) -> Bool {
        let policy = configuration.redirects ?? core.options.redirects
        guard policy.isFollowing, let attempt = state.withLock({ $0.withoutResponse(index) }) else { return false }
        do throws(RedirectError) {
            var trail = try trail(of: attempt)
            let step = try trail.follow(response, policy) { (request, isHome) throws(RequestError) in
                try core.options.insecureHTTP.check(request.url)
                let keepsOwnCookies = isHome
                let isHome = isHome && request.url.isAt(attempt.route.home)
                let isInService = keepsOwnCookies && pool.base(of: request.url) != nil
                try complete(&request, keepsOwnCookies: keepsOwnCookies, keepsCommonCookies: isInService)
                try pool.generator.complete(&request, afterRedirectOf: configuration, isHome: isHome)
            }
            guard case .send(let request) = step else { return false }
            try checkEncryption(of: request.url)
            if let unserved = pool.refusal(of: request) { throw .unserved(unserved) }
            goOn(with: request, of: index, along: trail, on: attempt, startedAt: startedAt)
        } catch {
            // A server that redirected the request may have executed it, even though the redirect cannot be followed.
            conclude(index, .answered, .failure(.redirect(error)), .done, at: core.now)
        }
        return true
    }

    /// Returns the redirect chain of an attempt.
    ///
    /// At the first redirect, this method builds the attempt's request once more.
    private func trail(of attempt: FailoverState.Attempt) throws(RedirectError) -> RedirectChain {
        if let box = attempt.trail { return box.value }
        do throws(RequestError) {
            var request = try core.request(for: configuration, on: attempt.route, in: pool)
            request.timeouts.total = nil
            request.url = attempt.url
            return RedirectChain(of: request, fragment: configuration.fragment)
        } catch {
            throw .invalidRequest(error)
        }
    }

    /// Checks that ``NetworkClient/Options/insecureHTTP`` allows the target of a redirect, which the app's redirect
    /// policy may have changed.
    private func checkEncryption(of url: RequestURL) throws(RedirectError) {
        do throws(RequestError) { try core.options.insecureHTTP.check(url) } catch { throw .invalidRequest(error) }
    }

    private func goOn(
        with request: HTTPRequest,
        of index: Int,
        along trail: RedirectChain,
        on attempt: FailoverState.Attempt,
        startedAt: MonotonicTime
    ) {
        let isOutside = trail.hasLeft && pool.base(of: request.url) == nil
        let next = state.withLock { $0.redirect(index, along: trail, isOutsideService: isOutside) }
        guard let hop = next else { return }
        let (route, now) = (attempt.route, core.now)
        let kind = kind(ofAttempt: index, on: route)
        if let watch, let step = trail.steps.last {
            let server = route.server
            let record = AttemptRecord(number: index + 1, kind: kind, server: server, request: request, startedAt: now)
            watch.tell(.redirected(record, step))
        }
        let server = trail.hasLeft ? nil : route.server
        let task = send(request, of: index, kind, attempt.activity, hop: hop, to: server, at: now) { [self] result in
            redirectEnded(index, along: trail, isOutsideService: isOutside, startedAt: startedAt, result)
        }
        guard let task else { return }
        if case .unwanted = state.withLock({ $0.attach(task, to: index, hop: hop) }) { task.cancel() }
    }

    private func redirectEnded(
        _ index: Int,
        along trail: RedirectChain,
        isOutsideService: Bool,
        startedAt: MonotonicTime,
        _ result: Result<HTTPResponse, TransportError>
    ) {
        if case .success(let response) = result {
            keepCookies(of: response, from: index)
            if response.redirectTarget != nil, follow(response, of: index, startedAt: startedAt) { return }
        }
        let now = core.now
        let latency = startedAt.duration(to: now)
        let outcome = AttemptOutcome(of: result, latency: latency, tooManyRequests: pool.tooManyRequests)
            .afterRedirect(hasLeftServer: trail.hasLeft, isOutsideService: isOutsideService)
        let end = RequestFate(of: result, to: trail.request.method)
        let fate = max(trail.fate(of: method), end)
        conclude(index, outcome, result.mapError { .transport($0.afterRedirect) }, fate, at: now)
    }

    /// Sets the cookies for the URL of a request after a redirect.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - keepsOwnCookies: Whether no redirect has left the origin of the call's own cookies.
    ///   - keepsCommonCookies: Whether, in addition, that origin belongs to the service.
    /// - Throws: ``RequestError`` if the app cannot compute the common header fields.
    private func complete(
        _ request: inout HTTPRequest,
        keepsOwnCookies: Bool,
        keepsCommonCookies: Bool
    ) throws(RequestError) {
        guard let jar = pool.generator.cookies, configuration.usesCookies,
            configuration.prebuiltRequest?.headers["Cookie"] == nil
        else { return }
        // If the cookies were removed after the call was made, stored and common cookies belong to another session.
        let isCleared = cookies.map(jar.isCleared) == true
        let own = keepsOwnCookies ? configuration.headers.values(of: "Cookie") : []
        let hasCommon = keepsCommonCookies && own.isEmpty && !isCleared && configuration.prebuiltRequest == nil
        let fields = hasCommon ? try pool.generator.common.resolvedHeaders(configuration).values(of: "Cookie") : own
        let stored = isCleared ? nil : jar.header(for: request.url, adding: fields, replacesStored: !own.isEmpty)
        request.headers["Cookie"] = stored ?? (fields.isEmpty ? nil : fields.joined(separator: "; "))
    }

    /// Stores the cookies of a response if the client has a cookie jar.
    func keepCookies(of response: HTTPResponse, from index: Int) {
        guard let jar = pool.generator.cookies, configuration.usesCookies,
            response.headers["Set-Cookie"] != nil, let attempt = state.withLock({ $0.withoutResponse(index) })
        else { return }
        jar.store(from: response.headers, of: attempt.url, unlessRemovedSince: cookies)
    }
}

extension TransportError {
    /// The error with which the whole redirect chain ends.
    ///
    /// The error does not state that the request is unsent, because a server that redirected the request has received
    /// it.
    fileprivate var afterRedirect: TransportError {
        var error = self
        error.mayHaveBeenSent = true
        return error
    }
}

extension RedirectChain {
    /// Returns the fate of a request with this method after these redirects: whether a server may have executed it.
    ///
    /// Every server of the chain has received the request.
    fileprivate func fate(of method: HTTPMethod) -> RequestFate {
        var (method, fate) = (method, RequestFate.refused)
        for step in steps {
            fate = max(fate, RequestFate(status: step.status, to: method))
            method = step.method
        }
        return fate
    }
}

extension RedirectPolicy {
    /// Whether the policy follows any redirects.
    fileprivate var isFollowing: Bool {
        if case .refuse = rule { false } else { true }
    }
}

extension APIConfiguration {
    /// The fragment: the part of the path after `#`, which is never sent.
    fileprivate var fragment: String? { path.behind(UInt8(ascii: "#")).map(String.init) }
}

extension RequestGenerator {
    /// Adds the credentials if the request goes to their origin, and otherwise removes them.
    func complete(
        _ request: inout HTTPRequest,
        afterRedirectOf configuration: APIConfiguration,
        isHome: Bool
    ) throws(RequestError) {
        configuration.confirmation?.complete(&request, afterRedirectOf: configuration)
        guard let authorization = configuration.authorization else { return }
        guard isHome else { return authorization.remove(from: &request) }
        try RequestError.running("credentials") { try authorization.apply(&request) }
    }
}

extension AttemptOutcome {
    /// Returns the outcome for the server that redirected an attempt.
    ///
    /// If another server of the service has failed, the failure counts against the server that redirects to it, so that
    /// another server may get the request. A failure below HTTP, such as a refused connection, becomes
    /// `FailureKind.other`, because the redirecting server itself was reached.
    fileprivate func afterRedirect(hasLeftServer: Bool, isOutsideService: Bool) -> AttemptOutcome {
        guard hasLeftServer else { return self }
        guard let failureKind, !isOutsideService else { return .answered }
        if case .wire = failureKind { return .failure(.other) }
        return self
    }
}
