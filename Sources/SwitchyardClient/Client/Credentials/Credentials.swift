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
        /// How long a call waits for a renewal; 30 s by default.
        ///
        /// A renewal that takes longer goes on without those who waited, and its result is kept. No other renewal begins
        /// before it has ended; after ten times as long it is cancelled.
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
    /// In the place of a different one, or of none, it counts as another user's: calls of the user before end as cancelled,
    /// unless the client knows both by the same name (``NetworkClient/Options/user``), and what clients have stored under no user's
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
