import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// A request that needs a credential.
protocol CredentialUser: Sendable {
    var core: ClientCore { get }
    /// Whose request it is; `nil` for one that is bound to no login.
    var callOwner: CallOwner? { get }
    /// What it is sent to.
    var pool: ServerPool { get }
    var environment: ServiceEnvironment { get }
    /// Whether it has begun and not ended.
    var isRunning: Bool { get }
}

extension Credentials {
    /// What follows from a 401.
    enum Answer {
        /// Nothing: it is the caller's.
        case none
        /// Another credential is there already.
        case replaced
        /// The credential was renewed because of it.
        case renewed
        /// No other credential is to be had, and the request may go without one.
        case without
    }

    /// The credential for a round, after a renewal if the present one has ended or is about to.
    ///
    /// One that is to be renewed before its end goes as long as it is good when that failed in a way that may pass: a
    /// later request tries again. One that is renewed since it was refused does not.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - mayGoWithout: Whether it goes without a credential where none is to be had.
    /// - Returns: The credential, or that there is none.
    /// - Throws: Why none can be had; for a request that may go without only what may be otherwise soon.
    func lease(for request: any CredentialUser, mayGoWithout: Bool) async throws(CredentialError) -> CredentialLease {
        do throws(CredentialError) {
            return try await renewedLease(for: request, mayGoWithout: mayGoWithout)
        } catch {
            let view = view(in: request.environment)
            if error.mayPass, isDue(view), let lease = leaseOfPresent(view) { return lease }
            // What was kept and cannot be read is there all the same.
            guard mayGoWithout, error.leavesNothing, !view.needsLoading else { throw detailed(error, view) }
            return leaseOfNothing(view)
        }
    }

    /// Returns the error to throw, which names the environments that have a credential if this one has none.
    private func detailed(_ error: CredentialError, _ view: View) -> CredentialError {
        guard error == .missing, view.credential == nil else { return error }
        let others = state.withLock { slots in slots.filter { $0.value.credential != nil }.map(\.key) }
        return others.isEmpty ? error : .setElsewhere(others.sorted { $0.rawValue < $1.rawValue })
    }

    /// What a request goes with that has been refused with the only credential there is.
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

    /// The slot as a request may use it: not once its user has gone.
    private func view(for request: any CredentialUser) throws(CredentialError) -> View {
        let view = view(in: request.environment)
        if request.callOwner?.refusal(seeing: view.login) != nil { throw .loggedOut }
        return view
    }

    private func leaseOfNothing(_ view: View) -> CredentialLease {
        CredentialLease(credential: nil, login: view.login, version: view.version, takenAt: view.endings)
    }

    private func renewedLease(
        for request: any CredentialUser,
        mayGoWithout: Bool
    ) async throws(CredentialError) -> CredentialLease {
        var begun: UInt64?
        var (hasWaited, hasRenewed) = (false, false)
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
            // What was renewed may be short-lived; it is used as long as it is good at all.
            let leeway = hasWaited || view.isShort ? .zero : policy.leeway
            let isGood = view.credential.map { $0.canBeSent && !$0.isExpired(at: clock(), leeway: leeway) } ?? false
            if isGood || !provider.canRenew(view.credential) {
                guard view.credential != nil || mayGoWithout else { throw .missing }
                if hasRenewed, isGood { state.withLock { $0[request.environment]?.forgiveRenewal() } }
                return leaseOf(view)
            }
            hasRenewed = try await renew(for: request, seeing: view, challenges: [])
            hasWaited = true
        }
    }

    /// Whether the present credential is so close to its end that it is renewed without having been refused.
    private func isDue(_ view: View) -> Bool {
        guard let present = view.credential, !view.isShort else { return false }
        return present.isExpired(at: clock(), leeway: policy.leeway)
    }

    /// The present credential as long as it is good.
    private func leaseOfPresent(_ view: View) -> CredentialLease? {
        guard let present = view.credential, present.canBeSent, !present.isExpired(at: clock(), leeway: .zero)
        else { return nil }
        return CredentialLease(credential: present, login: view.login, version: view.version, takenAt: view.endings)
    }

    /// Answers a 401: another credential, a renewed one, or none.
    ///
    /// - Parameters:
    ///   - headers: The header fields of the refusal.
    ///   - lease: The credential that was refused.
    ///   - request: The request.
    ///   - renewals: How often it has had the credential renewed already.
    ///   - mayGoWithout: Whether it goes without a credential where no other is to be had.
    /// - Returns: What follows.
    /// - Throws: Why no credential can be had.
    func answer(
        _ headers: HTTPHeaders,
        to lease: CredentialLease,
        for request: any CredentialUser,
        mayRenew renewals: Int,
        mayGoWithout: Bool
    ) async throws(CredentialError) -> Answer {
        do throws(CredentialError) {
            return try await renewedAnswer(headers, to: lease, for: request, mayRenew: renewals)
        } catch {
            if mayGoWithout, lease.credential != nil, error.leavesNothing { return .without }
            // A provider that has nothing leaves the refusal to the caller.
            if error == .missing, version(in: request.environment) == lease.version { return .none }
            throw error
        }
    }

    private func renewedAnswer(
        _ headers: HTTPHeaders,
        to lease: CredentialLease,
        for request: any CredentialUser,
        mayRenew renewals: Int
    ) async throws(CredentialError) -> Answer {
        var hasWaited = false
        while true {
            let view = try view(for: request)
            guard view.version == lease.version else {
                guard view.credential != nil else { throw .missing }
                return hasWaited ? .renewed : .replaced
            }
            if let error = view.failure(of: lease.version, begunAt: lease.takenAt) { throw error }
            guard renewals < policy.repeatsPerRequest, provider.canRenew(view.credential) else { return .none }
            if view.isBusy {
                try await wait(for: request)
            } else {
                let challenges = AuthenticationChallenge.all(in: headers)
                _ = try await renew(for: request, seeing: view, challenges: challenges)
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
        case .missing, .setElsewhere, .loginRequired, .loggedOut, .unsupportedScheme: false
        }
    }

    /// Whether there is nothing to go with, as far as anybody can say: no weather that will pass, and no user who has just
    /// logged out while the request was one of theirs.
    fileprivate var leavesNothing: Bool {
        switch self {
        case .missing, .setElsewhere, .loginRequired, .renewalFailed, .excessiveRenewal: true
        case .unavailable, .renewalTimedOut, .loggedOut, .unsupportedScheme: false
        }
    }
}
