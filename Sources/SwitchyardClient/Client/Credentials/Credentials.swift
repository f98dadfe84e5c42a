public import Foundation
import SwitchyardHTTP
public import SwitchyardServices

/// Who the app is to a service, in each environment: keeps the credential, puts it into requests, and renews it once
/// for however many requests need it.
///
/// One value may serve several clients. Any thread may call it.
///
/// ### Use
///
///     let credentials = Credentials { renewal in try await login.refresh(renewal) }
///     options.credentials = credentials
///     credentials.set(.bearer(token, expiresAt: expiry, refreshToken: refresh), in: client.environment)
///
/// ### Public calls
/// A request that has no credential to go with is not sent, and fails with ``CredentialError/missing`` or
/// ``CredentialError/loginRequired``. Where a part of the service is open to everybody, say which calls may go without:
/// all of them by `Credentials.Policy(allowsAnonymous: true)`, or one by ``APIConfiguration/allowsAnonymous``. They go with
/// the credential as long as there is one.
///
/// ### Rules
/// 1. A request goes with the credential of its environment, and waits while that is being renewed.
/// 2. A credential that ends within ``Policy/leeway`` is renewed before the request goes; one that a renewal gave for
///    less time than that, when it has ended; and one that no header field can hold, at once.
/// 3. A 401 to a credential that has been replaced meanwhile only sends the request again. A 401 to the present one
///    renews it, once, and every request that got one is sent again when it is there. The caller's is a 401 of somebody
///    whom the credential is not for, and one behind a redirect that answers a write, which would be done twice.
/// 4. When renewing fails, every request that waited, and every one that was refused with that credential before,
///    fails with the same error. One that starts later may try again, unless the provider says
///    ``CredentialError/loginRequired``. A credential that is renewed before its end goes as long as it is good when the
///    renewal fails for any other reason than that. A request that may go without a credential does so when the renewal
///    was refused, and fails like the others when the server that renews could not be asked.
/// 5. More than ``Policy/renewals`` in ``Policy/window`` are refused.
/// 6. Requests of the renewal itself go without these credentials.
/// 7. Credentials go to the origin of the server's base URL, also under https in place of http, and to no other: not to a
///    content delivery network, and not along a redirect that leads away.
public final class Credentials: Sendable {
    /// How and when credentials are renewed.
    public struct Policy: Sendable, Hashable {
        /// How long before its end a credential is renewed; 30 s by default.
        public var leeway: Duration = .seconds(30)
        /// The most renewals in ``window``; 5 by default.
        public var renewals = 5
        /// The time in which renewals are counted; 30 s by default.
        public var window: Duration = .seconds(30)
        /// How long a renewal may take; 30 s by default.
        public var timeout: Duration = .seconds(30)
        /// How often one request has the credential renewed because of a 401; once by default.
        ///
        /// A service that refuses the fresh credential too means the refusal, and gets to say so to the caller.
        public var repeatsPerRequest = 1
        /// Whether requests go without a credential when there is none to go with; off by default.
        ///
        /// Off, nothing is sent before somebody has logged in, public lists neither, but for calls that say otherwise by
        /// ``APIConfiguration/allowsAnonymous`` or ``APIConfiguration/usesCredentials``.
        public var allowsAnonymous = false

        /// Creates a policy.
        ///
        /// - Parameter allowsAnonymous: Whether requests go without a credential when there is none to go with; not unless
        ///   given.
        public init(allowsAnonymous: Bool = false) {
            self.allowsAnonymous = allowsAnonymous
        }
    }

    /// How and when credentials are renewed.
    public let policy: Policy
    let provider: any CredentialProvider
    let clock: @Sendable () -> Date
    let state = Locked<[ServiceEnvironment: CredentialSlot]>([:])
    private let hub = EventHub<CredentialEvent>()
    let userWatches = Locked<[ObjectIdentifier: WeakUserWatch]>([:])
    /// The task that has the provider keep the credential which was set last.
    private let storing = Locked<Task<Void, Never>?>(nil)

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - provider: Where they are kept and how they are renewed.
    ///   - policy: When they are renewed, and whether requests may go without; as ``Policy`` has it unless given.
    ///   - clock: The time of day, which expiry needs; the system's unless given.
    public init(
        provider: any CredentialProvider,
        policy: Policy = Policy(),
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.provider = provider
        self.policy = policy
        self.clock = clock
    }

    /// Creates credentials that a closure renews.
    ///
    /// - Parameters:
    ///   - policy: When they are renewed, and whether requests may go without; as ``Policy`` has it unless given.
    ///   - clock: The time of day; the system's unless given.
    ///   - renew: Gets a new credential; see ``CredentialProvider/renew(_:)``.
    public convenience init(
        policy: Policy = Policy(),
        clock: @escaping @Sendable () -> Date = { Date() },
        renew: @escaping @Sendable (CredentialRenewal) async throws -> Credential?
    ) {
        self.init(provider: RenewingProvider(renewal: renew), policy: policy, clock: clock)
    }

    /// Creates credentials that stay as they are: the same in every environment until set otherwise.
    public convenience init(_ credential: Credential) {
        self.init(provider: FixedProvider(credential: credential))
    }

    deinit {
        hub.finish()
    }

    /// What happens to the credentials from now on; for a screen that has to ask for a login, or caches that have to go.
    public func events() -> AsyncStream<CredentialEvent> {
        hub.stream(bufferingNewest: 64)
    }

    func publish(_ kind: CredentialEvent.Kind, in environment: ServiceEnvironment) {
        hub.send(CredentialEvent(environment: environment, kind: kind))
    }
}

// MARK: - What the app sets

extension Credentials {
    /// The credential of an environment; `nil` when there is none, or the provider has not been asked yet.
    public func credential(in environment: ServiceEnvironment) -> Credential? {
        state.withLock { $0[environment]?.credential }
    }

    /// How often the credential of an environment has been replaced.
    public func version(in environment: ServiceEnvironment) -> UInt64 {
        state.withLock { $0[environment]?.version ?? 0 }
    }

    /// Sets the credential of an environment, after a login for instance; requests that wait for a renewal go on with it.
    ///
    /// In the place of a different one, or of none, it counts as another user's: what clients have stored under no user's
    /// name is removed, before this method returns. For what an app has kept since its last run there is
    /// ``restore(_:in:)``.
    public func set(_ credential: Credential, in environment: ServiceEnvironment) {
        replace(with: credential, in: environment, .set)
    }

    /// Sets the credential that the app has kept since its last run, before the first call: the user is the same, and what
    /// was stored on disk stays.
    ///
    /// A provider that keeps the credential itself (``CredentialProvider/storedCredential(in:)``) needs no such call.
    public func restore(_ credential: Credential, in environment: ServiceEnvironment) {
        replace(with: credential, in: environment, .set, isSameUser: { $0.isOfLastRun })
    }

    /// Replaces the credential of the user who is logged in; for an app that refreshes tokens itself.
    ///
    /// The user stays the same: calls under way go on with the new credential, and stored responses stay. Nothing changes
    /// when nobody is logged in, so that a refresh that ends after a logout logs nobody in again.
    ///
    /// - Parameters:
    ///   - credential: The new credential.
    ///   - old: The credential that was refreshed. If another one is in use by now, nothing changes. `nil`, the default,
    ///     replaces any credential.
    ///   - environment: The environment.
    /// - Returns: Whether the credential was replaced.
    @discardableResult
    public func update(
        _ credential: Credential,
        replacing old: Credential? = nil,
        in environment: ServiceEnvironment
    ) -> Bool {
        replace(
            with: credential,
            in: environment,
            .set,
            where: { present in present.map { old == nil || $0 == old } ?? false },
            isSameUser: { _ in true }
        )
    }

    /// Forgets the credential of an environment.
    ///
    /// Calls of the user that wait or are under way end with ``CredentialError/loggedOut`` before this method returns,
    /// except those that outlive a logout (``APIConfiguration/outlivesLogout``); what a renewal under way brings is
    /// dropped. What clients have stored under no user's name is removed before this method returns; listeners of
    /// ``events()`` are told, so that what was stored under the user's name may go too.
    public func logOut(in environment: ServiceEnvironment) {
        replace(with: nil, in: environment, .loggedOut)
    }

    @discardableResult
    private func replace(
        with credential: Credential?,
        in environment: ServiceEnvironment,
        _ kind: CredentialEvent.Kind,
        where mayReplace: (Credential?) -> Bool = { _ in true },
        isSameUser: (CredentialSlot) -> Bool = { _ in false }
    ) -> Bool {
        let change = state.withLock { slots -> (waiters: [RenewalWaiter], isOtherUser: Bool)? in
            var slot = slots[environment] ?? CredentialSlot()
            guard mayReplace(slot.credential) else { return nil }
            tell(kind, keeping: credential, in: environment)
            let before = slot.userChanges
            defer { slots[environment] = slot }
            let waiters = slot.replace(with: credential, isSameUser: isSameUser(slot))
            return (waiters, slot.userChanges != before)
        }
        guard let (waiters, isOtherUser) = change else { return false }
        if isOtherUser {
            tellUserWatches(environment)
            state.withLock { $0[environment]?.noteUserChangeTold() }
        }
        let result: Result<Void, CredentialError> = credential == nil ? .failure(.loggedOut) : .success(())
        for waiter in waiters { waiter.end(result) }
        return true
    }

    /// Tells listeners and provider of a change.
    ///
    /// Called under the lock that the change is made under, so that what is heard and kept last is what happened last:
    /// a log-out stays one, however close to the end of a renewal it came. Both only take note, and act later.
    func tell(_ kind: CredentialEvent.Kind, keeping credential: Credential?, in environment: ServiceEnvironment) {
        publish(kind, in: environment)
        store(credential, in: environment)
    }

    /// Has the provider keep a credential; one after the other, so that the last one set is the last one kept.
    ///
    /// The provider may take its time: nobody waits for it.
    private func store(_ credential: Credential?, in environment: ServiceEnvironment) {
        storing.withLock { storing in
            storing = Task { [provider, storing] in
                await storing?.value
                await provider.store(credential, in: environment)
            }
        }
    }
}

private struct RenewingProvider: CredentialProvider {
    let renewal: @Sendable (CredentialRenewal) async throws -> Credential?

    func canRenew(_ credential: Credential?) -> Bool { true }
    func renew(_ renewal: CredentialRenewal) async throws -> Credential? { try await self.renewal(renewal) }
}

private struct FixedProvider: CredentialProvider {
    let credential: Credential

    func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? { credential }
}

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
            guard mayGoWithout, error.leavesNothing, !view.needsLoading else { throw error }
            return leaseOfNothing(view)
        }
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
        case .missing, .loginRequired, .loggedOut, .unsupportedScheme: false
        }
    }

    /// Whether there is nothing to go with, as far as anybody can say: no weather that will pass, and no user who has just
    /// logged out while the request was one of theirs.
    fileprivate var leavesNothing: Bool {
        switch self {
        case .missing, .loginRequired, .renewalFailed, .excessiveRenewal: true
        case .unavailable, .renewalTimedOut, .loggedOut, .unsupportedScheme: false
        }
    }
}
