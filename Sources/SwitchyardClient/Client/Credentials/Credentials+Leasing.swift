import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// A request that needs a credential.
protocol CredentialUser: Sendable {
    var core: ClientCore { get }
    /// The user and environment of the request, or `nil` for a request that is not bound to a login.
    var callOwner: CallOwner? { get }
    /// The servers that the request is sent to.
    var pool: ServerPool { get }
    var environment: ServiceEnvironment { get }
    /// Whether the request has started and not ended.
    var isRunning: Bool { get }
}

extension Credentials {
    /// The reaction to a 401.
    enum Answer {
        /// The app gets the 401 response.
        case none
        /// The credential had already been replaced.
        case replaced
        /// The credential was refreshed because of the 401.
        case refreshed
        /// No other credential is available, and the request may be sent without a credential.
        case without
    }

    /// Returns the credential for a round: one try at the request with its failovers and hedges.
    ///
    /// If the current credential has expired or is about to expire, it is refreshed first.
    ///
    /// If the refresh of a credential that has not expired yet fails with a transient error, the round uses that
    /// credential, and a later request tries the refresh again. This does not apply to a credential that is refreshed
    /// because the server rejected it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - mayGoWithout: Whether the request is sent without a credential if none is available.
    /// - Returns: The credential, or a lease without a credential.
    /// - Throws: The reason why no credential is available. A request that may be sent without a credential fails only
    ///   if the reason is transient or if the user has logged out.
    func lease(for request: any CredentialUser, mayGoWithout: Bool) async throws(CredentialError) -> CredentialLease {
        do throws(CredentialError) {
            return try await refreshedLease(for: request, mayGoWithout: mayGoWithout)
        } catch {
            let view = view(in: request.environment)
            if error.isTransient, isDue(view), let lease = leaseOfPresent(view) { return lease }
            // If loading a stored credential has failed, the credential may still exist, so the request is not sent
            // without it.
            guard mayGoWithout, error.leavesNothing, !view.needsLoading else { throw detailed(error, view) }
            return leaseOfNothing(view)
        }
    }

    /// Returns the error to throw.
    ///
    /// If this environment has no credential but other environments do, the error names them.
    private func detailed(_ error: CredentialError, _ view: View) -> CredentialError {
        guard error == .missing, view.credential == nil else { return error }
        let others = state.withLock { slots in slots.filter { $0.value.credential != nil }.map(\.key) }
        return others.isEmpty ? error : .setElsewhere(others.sorted { $0.rawValue < $1.rawValue })
    }

    /// Returns a lease without a credential, for a request whose only available credential the server has rejected.
    func leaseOfNothing(in environment: ServiceEnvironment) -> CredentialLease {
        leaseOfNothing(view(in: environment))
    }

    private func leaseOf(_ view: View) -> CredentialLease {
        CredentialLease(
            credential: view.credential,
            login: view.login,
            version: view.version,
            takenAt: view.endings
        )
    }

    /// Returns a snapshot of the environment's credential for a request.
    ///
    /// The method throws an error if the request's user has logged out.
    private func view(for request: any CredentialUser) throws(CredentialError) -> View {
        let view = view(in: request.environment)
        if request.callOwner?.refusal(seeing: view.login) != nil { throw .loggedOut }
        return view
    }

    private func leaseOfNothing(_ view: View) -> CredentialLease {
        CredentialLease(credential: nil, login: view.login, version: view.version, takenAt: view.endings)
    }

    private func refreshedLease(
        for request: any CredentialUser,
        mayGoWithout: Bool
    ) async throws(CredentialError) -> CredentialLease {
        var begun: UInt64?
        var (hasWaited, hasRefreshed) = (false, false)
        while true {
            let view = try view(for: request)
            begun = begun ?? view.endings
            if view.hasNothing, !view.needsLoading {
                if let lease = leaseOfPresent(view) { return lease }
                if mayGoWithout { return leaseOfNothing(view) }
            }
            if let error = view.failure(of: view.version, begunAt: begun ?? 0) { throw error }
            guard !view.isBusy else {
                try await wait(for: request)
                hasWaited = true
                continue
            }
            guard !view.needsLoading else {
                try await load(for: request)
                continue
            }
            // After a refresh, the leeway does not apply: a short-lived credential is used until it expires.
            let leeway = hasWaited || view.isShort ? .zero : policy.leeway
            let isGood = view.hasUsableCredential(at: clock(), leeway: leeway)
            if isGood || !provider.canRefresh(view.credential) {
                guard view.credential != nil || mayGoWithout else { throw .missing }
                if hasRefreshed, isGood { state.withLock { $0[request.environment]?.discountRefresh() } }
                return leaseOf(view)
            }
            hasRefreshed = try await refresh(for: request, seeing: view, challenges: [])
            hasWaited = true
        }
    }

    /// Returns whether the current credential is so close to its expiry that it is refreshed before a server rejects
    /// it.
    private func isDue(_ view: View) -> Bool {
        guard let present = view.credential, !view.isShort else { return false }
        return present.isExpired(at: clock(), leeway: policy.leeway)
    }

    /// Returns a lease of the current credential, or `nil` if the credential has expired or cannot be sent.
    private func leaseOfPresent(_ view: View) -> CredentialLease? {
        view.hasUsableCredential(at: clock(), leeway: .zero) ? leaseOf(view) : nil
    }

    /// Handles a 401: selects another credential, refreshes the credential, or decides to send the request without a
    /// credential.
    ///
    /// - Parameters:
    ///   - headers: The header fields of the 401 response.
    ///   - lease: The credential that the server rejected.
    ///   - request: The request.
    ///   - refreshes: The number of refreshes that the request has already triggered.
    ///   - mayGoWithout: Whether the request is sent without a credential if no other credential is available.
    /// - Returns: The reaction to the 401.
    /// - Throws: The reason why no credential is available.
    func answer(
        _ headers: HTTPHeaders,
        to lease: CredentialLease,
        for request: any CredentialUser,
        mayRefresh refreshes: Int,
        mayGoWithout: Bool
    ) async throws(CredentialError) -> Answer {
        do throws(CredentialError) {
            return try await refreshedOutcome(headers, to: lease, for: request, mayRefresh: refreshes)
        } catch {
            if mayGoWithout, lease.credential != nil, error.leavesNothing { return .without }
            // If the provider has no other credential, the app gets the 401 response.
            if error == .missing, version(in: request.environment) == lease.version { return .none }
            throw error
        }
    }

    private func refreshedOutcome(
        _ headers: HTTPHeaders,
        to lease: CredentialLease,
        for request: any CredentialUser,
        mayRefresh refreshes: Int
    ) async throws(CredentialError) -> Answer {
        var hasWaited = false
        while true {
            let view = try view(for: request)
            guard view.version == lease.version else {
                guard view.credential != nil else { throw .missing }
                return hasWaited ? .refreshed : .replaced
            }
            if let error = view.failure(of: lease.version, begunAt: lease.takenAt) { throw error }
            guard refreshes < policy.repeatsPerRequest, provider.canRefresh(view.credential) else { return .none }
            if view.isBusy {
                try await wait(for: request)
            } else {
                let challenges = AuthenticationChallenge.all(in: headers)
                _ = try await refresh(for: request, seeing: view, challenges: challenges)
            }
            hasWaited = true
        }
    }
}

extension CredentialError {
    /// Whether a later refresh may succeed.
    fileprivate var isTransient: Bool {
        switch self {
        case .unavailable, .refreshFailed, .refreshTimedOut, .tooManyRefreshes: true
        case .missing, .setElsewhere, .loginRequired, .loggedOut, .unsupportedScheme: false
        }
    }

    /// Whether there is certainly no credential, because the error is neither a transient failure nor a logout during
    /// the request.
    fileprivate var leavesNothing: Bool {
        switch self {
        case .missing, .setElsewhere, .loginRequired, .refreshFailed, .tooManyRefreshes: true
        case .unavailable, .refreshTimedOut, .loggedOut, .unsupportedScheme: false
        }
    }
}
