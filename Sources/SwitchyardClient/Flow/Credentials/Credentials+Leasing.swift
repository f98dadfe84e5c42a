import SwitchyardServices

extension Credentials {
    /// What follows from a 401.
    enum Answer {
        /// Nothing: it is the caller's.
        case none
        /// Another credential is there already.
        case replaced
        /// The credential was renewed because of it.
        case renewed
    }

    /// The credential for a round, after a renewal if the present one has ended or is about to.
    ///
    /// One that is to be renewed before its end goes as long as it is good when that failed in a way that may pass: a
    /// later request tries again. One that is renewed since it was refused does not.
    func lease(for journey: Journey) async throws(CredentialError) -> CredentialLease {
        do throws(CredentialError) {
            return try await renewedLease(for: journey)
        } catch {
            let view = view(in: journey.environment)
            guard error.mayPass, isDue(view), let lease = leaseOfPresent(view) else { throw error }
            return lease
        }
    }

    private func renewedLease(for journey: Journey) async throws(CredentialError) -> CredentialLease {
        var begun: UInt64?
        var hasWaited = false
        while true {
            let view = view(in: journey.environment)
            begun = begun ?? view.endings
            if view.hasNothing, !view.needsLoading, let lease = leaseWithoutRenewal(view) { return lease }
            if let error = view.failure(of: view.version, begunAt: begun ?? 0) { throw error }
            guard !view.isBusy else {
                try await wait(for: journey)
                hasWaited = true
                continue
            }
            guard !view.needsLoading else {
                try await load(for: journey)
                continue
            }
            // What was renewed may be short-lived; it is used as long as it is good at all.
            let leeway = hasWaited || view.isShort ? .zero : policy.leeway
            let isGood = view.credential.map { !$0.isExpired(at: clock(), leeway: leeway) } ?? false
            if isGood || !provider.canRenew(view.credential) {
                guard view.credential != nil || policy.allowsAnonymous else { throw .missing }
                return CredentialLease(credential: view.credential, version: view.version, takenAt: view.endings)
            }
            try await renew(for: journey, seeing: view, challenges: [])
            hasWaited = true
        }
    }

    /// Whether the present credential is so close to its end that it is renewed without having been refused.
    private func isDue(_ view: View) -> Bool {
        guard let present = view.credential, !view.isShort else { return false }
        return present.isExpired(at: clock(), leeway: policy.leeway)
    }

    /// What a request goes with when the provider has no other credential: the present one as long as it is good, or
    /// none where that is allowed.
    private func leaseWithoutRenewal(_ view: View) -> CredentialLease? {
        if let lease = leaseOfPresent(view) { return lease }
        guard policy.allowsAnonymous else { return nil }
        return CredentialLease(credential: nil, version: view.version, takenAt: view.endings)
    }

    /// The present credential as long as it is good.
    private func leaseOfPresent(_ view: View) -> CredentialLease? {
        guard let present = view.credential, !present.isExpired(at: clock(), leeway: .zero) else { return nil }
        return CredentialLease(credential: present, version: view.version, takenAt: view.endings)
    }

    /// Answers a 401: another credential, a renewed one, or none.
    ///
    /// - Parameters:
    ///   - headers: The header fields of the refusal.
    ///   - lease: The credential that was refused.
    ///   - journey: The request.
    ///   - renewals: How often it has had the credential renewed already.
    /// - Returns: What follows.
    /// - Throws: Why no credential can be had.
    func answer(
        _ headers: HTTPHeaders,
        to lease: CredentialLease,
        for journey: Journey,
        mayRenew renewals: Int
    ) async throws(CredentialError) -> Answer {
        var hasWaited = false
        while true {
            let view = view(in: journey.environment)
            guard view.version == lease.version else {
                guard view.credential != nil else { throw .missing }
                return hasWaited ? .renewed : .replaced
            }
            if let error = view.failure(of: lease.version, begunAt: lease.takenAt) {
                // A provider that has nothing leaves the refusal to the caller.
                if error == .missing { return .none }
                throw error
            }
            guard renewals < policy.repeatsPerRequest, provider.canRenew(view.credential) else { return .none }
            if view.isBusy {
                try await wait(for: journey)
            } else {
                let challenges = AuthenticationChallenge.all(in: headers)
                try await renew(for: journey, seeing: view, challenges: challenges)
            }
            hasWaited = true
        }
    }
}

extension CredentialError {
    /// Whether a credential may be renewed later that could not be now.
    fileprivate var mayPass: Bool {
        switch self {
        case .unavailable, .renewalFailed, .renewalTimedOut, .excessiveRenewal: true
        case .missing, .loginRequired, .loggedOut, .unsupportedScheme: false
        }
    }
}
