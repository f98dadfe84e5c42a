import SwitchyardHTTP

/// How one request has answered the challenges of one server.
struct DigestTrial: Sendable {
    /// How often it has, since the last answer that was no refusal.
    var count: Int
    /// The nonce of its own that it was given last.
    var nonce: DigestNonce
}

extension RequestFlow {
    private var digests: DigestBook { core.objects.object { DigestBook() } }

    /// What puts a credential into a request.
    ///
    /// A request that was refused goes with the nonce it was given then: others may have taken or replaced the last one.
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

    /// Whether a 401 brought a digest challenge that another round answers.
    ///
    /// A request answers each server of the service once, since every one has a nonce of its own, and a second time when
    /// that says that only its nonce was too old, be it in each retry; after that the refusal is meant.
    func answersDigest(
        _ answer: ServiceResponse,
        with credential: Credential?,
        _ memory: inout RequestFlowMemory
    ) throws(CredentialError) -> Bool {
        guard case .digest(let user, _) = credential?.scheme, let url = answer.context.url else { return false }
        let challenges = AuthenticationChallenge.all(in: answer.headers)
        guard let challenge = DigestAnswer.best(of: challenges) else {
            guard !challenges.isEmpty, !challenges.contains(where: DigestAnswer.isEmpty) else { return false }
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

    /// Keeps the nonce that an answer names for the next request (RFC 7616 section 3.5), this one's next round included.
    ///
    /// An answer that is no refusal has taken the present one: when that is too old for a retry, it is so for the first
    /// time.
    func keepNextNonce(of answer: ServiceResponse, with credential: Credential?, _ memory: inout RequestFlowMemory) {
        guard case .digest(let user, _) = credential?.scheme, !answer.context.isForeign,
            let origin = answer.context.url?.origin
        else { return }
        if memory.digests[origin] != nil { memory.digests[origin]?.count = 1 }
        let information = AuthenticationChallenge.information(in: answer.headers)
        guard let next = DigestAnswer.returnable(information["nextnonce"]), !next.isEmpty,
            let nonce = digests.keep(next, after: memory.digests[origin]?.nonce, from: origin, for: user)
        else { return }
        memory.digests[origin]?.nonce = nonce
    }
}

extension AuthenticationChallenge {
    /// The scheme, with its algorithm where it has one.
    fileprivate var name: String {
        parameters["algorithm"].map { "\(scheme) \($0)" } ?? scheme
    }
}
