import SwitchyardHTTP

/// The replies of one request to the digest challenges of one origin.
struct DigestTrial: Sendable {
    /// The number of replies since the last response that was not a 401.
    var count: Int
    /// The last nonce that this request received.
    var nonce: DigestNonce
}

extension RequestFlow {
    private var digests: DigestChallengeStore { core.objects.object { DigestChallengeStore() } }

    /// Returns the authorization that adds a credential to a request.
    ///
    /// A request that got a 401 uses the nonce of that 401. The last nonce in the store may be different, because other
    /// requests may have used or replaced it.
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

    /// Whether a 401 has a digest challenge to which the request can reply when it is sent again.
    ///
    /// A request replies to each server of the service once, because every server has its own nonce. It replies a
    /// second time if the server reports that the nonce was stale. A retry may reply to a stale nonce again. Any other
    /// 401 is returned to the app.
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

    /// Stores the nonce that a response names for the next request (RFC 7616 section 3.5).
    ///
    /// If this request is sent again, it uses that nonce too. A response other than 401 has accepted the current nonce.
    /// If the nonce is stale in a later retry, the request may therefore reply once more.
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
