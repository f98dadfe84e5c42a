import SwitchyardHTTP

/// The attempts of one request to satisfy the digest challenges of one server.
struct DigestTrial: Sendable {
    /// The number of attempts since the last response that was not a refusal.
    var count: Int
    /// The nonce that this request received last.
    var nonce: DigestNonce
}

extension RequestFlow {
    private var digests: DigestChallengeStore { core.objects.object { DigestChallengeStore() } }

    /// Returns the authorization that adds a credential to a request.
    ///
    /// A request that was refused uses the nonce of its refusal, because other requests may have used or replaced the
    /// last one.
    func authorization(
        with credential: Credential,
        after trials: [RequestURL.Origin: DigestTrial]
    ) -> RequestAuthorization {
        if let field = credential.field {
            return RequestAuthorization(names: [field.name]) { $0.headers.set(field.name, field.value) }
        }
        guard case .digest(let user, let password) = credential.scheme else {
            return RequestAuthorization(names: []) { _ in }
        }
        let digests = digests
        return RequestAuthorization(names: ["Authorization"], answersWhole: true) { request in
            let origin = request.url.origin
            let nonce = trials[origin]?.nonce ?? digests.last(from: origin, for: user)
            try nonce?.authorize(&request, user: user, password: password)
        }
    }

    /// Whether a 401 contains a digest challenge that another round can satisfy.
    ///
    /// A request tries each server of the service once, because every server has its own nonce, and a second time if
    /// the server reports that only the nonce was stale, also in each retry. After that the refusal is final.
    func respondsToDigest(
        _ answer: ServiceResponse,
        with credential: Credential?,
        _ memory: inout RequestFlowMemory
    ) throws(CredentialError) -> Bool {
        guard case .digest(let user, _) = credential?.scheme, let url = answer.context.url else { return false }
        let challenges = AuthenticationChallenge.all(in: answer.headers)
        guard let challenge = DigestResponse.best(of: challenges) else {
            guard !challenges.isEmpty, !challenges.contains(where: DigestResponse.isEmpty) else { return false }
            throw .unsupportedScheme(challenges.map(\.name))
        }
        let isStale = challenges.contains { $0.parameters["stale"]?.lowercased() == "true" }
        let count = memory.digests[url.origin]?.count ?? 0
        guard count == 0 || (isStale && count < 2) else { return false }
        guard memory.digests.isEmpty || count > 0 || pool.base(of: url) != nil else { return false }
        let nonce = digests.keep(challenge, from: url.origin, for: user)
        memory.digests[url.origin] = DigestTrial(count: count + 1, nonce: nonce)
        return true
    }

    /// Stores the nonce that a response names for the next request (RFC 7616 section 3.5), including this request's
    /// next round.
    ///
    /// A response that is not a refusal has accepted the current nonce: if it is stale in a retry, it is so for the
    /// first time.
    func keepNextNonce(of answer: ServiceResponse, with credential: Credential?, _ memory: inout RequestFlowMemory) {
        guard case .digest(let user, _) = credential?.scheme, !answer.context.isForeign,
            let origin = answer.context.url?.origin
        else { return }
        if memory.digests[origin] != nil { memory.digests[origin]?.count = 1 }
        let information = AuthenticationChallenge.information(in: answer.headers)
        guard let next = DigestResponse.returnable(information["nextnonce"]), !next.isEmpty,
            let nonce = digests.keep(next, after: memory.digests[origin]?.nonce, from: origin, for: user)
        else { return }
        memory.digests[origin]?.nonce = nonce
    }
}

extension AuthenticationChallenge {
    /// The scheme, followed by its algorithm if it has one.
    fileprivate var name: String {
        parameters["algorithm"].map { "\(scheme) \($0)" } ?? scheme
    }
}
