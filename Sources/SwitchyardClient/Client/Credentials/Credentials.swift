public import Foundation
import SwitchyardHTTP
public import SwitchyardServices

/// Stores the credential of each environment, adds it to requests, and refreshes it once for all requests that need it.
///
/// One `Credentials` object may serve several clients. Any thread may call it.
///
/// ### Use
///
///     let credentials = Credentials { refresh in try await login.refresh(refresh) }
///     options.credentials = credentials
///     credentials.set(.bearer(token, expiresAt: expiry, refreshToken: refresh), in: client.environment)
///
/// ### Public calls
/// If there is no credential for a request, the request is not sent. It fails with ``CredentialError/missing`` or
/// ``CredentialError/loginRequired``. If a part of the service is public, declare which calls may omit the credential.
/// Use `Credentials.Policy(allowsAnonymous: true)` for all calls, or ``APIConfiguration/allowsAnonymous`` for one call.
/// These calls still carry the credential if there is one.
///
/// ### Rules
/// 1. A request carries the credential of its environment, and waits while the credential is being refreshed.
/// 2. A credential that expires within ``Policy/leeway`` is refreshed before the request is sent. If a refresh returned
///    a credential with a shorter lifetime than the leeway, the credential is refreshed only after it has expired. If a
///    refresh returned a new credential that has already expired, the device's clock is probably wrong, and the
///    credential is used until a server rejects it. A credential that no header field can hold is refreshed
///    immediately.
/// 3. If a server responds with 401 to a credential that has been replaced in the meantime, the request is only resent.
///    If a server responds with 401 to the current credential, the credential is refreshed once. Every request that got
///    a 401 is then resent with the new credential. The app gets the 401 response itself in two cases: if it comes from
///    an origin that the credential is not for, and if it follows the redirect of a write request, because resending
///    would execute the write twice.
/// 4. If a refresh fails, every request that waited for it fails with the same error, and so does every request that a
///    server had rejected with the old credential. A later request may try again, unless the provider throws
///    ``CredentialError/loginRequired``. If the refresh of a credential that has not expired yet fails for another
///    reason, requests carry that credential until it expires. If the server rejected the refresh, a request that may
///    omit the credential is sent without a credential. If the server that refreshes credentials was unreachable, such
///    a request fails like the others.
/// 5. More than ``Policy/refreshes`` refreshes in ``Policy/window`` are refused.
/// 6. Requests that the refresh itself sends do not carry these credentials.
/// 7. Credentials are sent only to the origin of the server's base URL, and to the same host under https instead of
///    http. They are sent neither to a content delivery network nor, after a redirect, to another origin.
public final class Credentials: Sendable {
    /// The policy that decides how and when credentials are refreshed.
    public struct Policy: Sendable, Hashable {
        /// The time before its expiry at which a credential is refreshed, by default 30 s.
        public var leeway: Duration = .seconds(30)
        /// The maximum number of refreshes in ``window``, by default 5; further refreshes fail.
        public var refreshes = 5
        /// The period in which refreshes are counted, by default 30 s.
        public var window: Duration = .seconds(30)
        /// The maximum time that a call waits for a refresh, by default 30 s.
        ///
        /// If a refresh takes longer, the waiting calls fail, but the refresh continues and its result is stored. No
        /// other refresh starts before this refresh has ended. A refresh that takes ten times the timeout is cancelled.
        public var timeout: Duration = .seconds(30)
        /// The maximum number of refreshes that one request triggers because of a 401, by default 1.
        ///
        /// If the service rejects the new credential too, the app gets the 401 response.
        public var repeatsPerRequest = 1
        /// Whether requests are sent without a credential if there is none, by default `false`.
        ///
        /// If `false`, no request is sent before a user has logged in, not even a public request. Calls can override
        /// this with ``APIConfiguration/allowsAnonymous`` or ``APIConfiguration/usesCredentials``.
        public var allowsAnonymous = false

        /// Creates a policy.
        ///
        /// - Parameter allowsAnonymous: Whether requests are sent without a credential if there is none, by default
        ///   `false`.
        public init(allowsAnonymous: Bool = false) {
            self.allowsAnonymous = allowsAnonymous
        }
    }

    /// The policy that decides how and when credentials are refreshed.
    public let policy: Policy
    let provider: any CredentialProvider
    let clock: @Sendable () -> Date
    let state = Locked<[ServiceEnvironment: CredentialSlot]>([:])
    private let hub = EventHub<CredentialEvent>()
    let userObservers = Locked<[ObjectIdentifier: WeakUserObserver]>([:])
    /// The task in which the provider stores the latest credential.
    private let storing = Locked<Task<Void, Never>?>(nil)

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - provider: The provider that stores and refreshes the credentials.
    ///   - policy: The policy that decides when credentials are refreshed and whether requests may omit them, by
    ///     default `Policy()`.
    ///   - clock: A closure that returns the current date and time, to check whether a credential has expired. By
    ///     default, it is the system's time.
    public init(
        provider: any CredentialProvider,
        policy: Policy = Policy(),
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.provider = provider
        self.policy = policy
        self.clock = clock
    }

    /// Creates credentials that a closure refreshes.
    ///
    /// - Parameters:
    ///   - policy: The policy that decides when credentials are refreshed and whether requests may omit them, by
    ///     default `Policy()`.
    ///   - clock: A closure that returns the current date and time, by default the system's time.
    ///   - refresh: A closure that returns a new credential. See ``CredentialProvider/refresh(_:)``.
    public convenience init(
        policy: Policy = Policy(),
        clock: @escaping @Sendable () -> Date = { Date() },
        refresh: @escaping @Sendable (CredentialRefresh) async throws -> Credential?
    ) {
        self.init(provider: RefreshingProvider(body: refresh), policy: policy, clock: clock)
    }

    /// Creates credentials that use the given credential in every environment until another credential is set.
    public convenience init(_ credential: Credential) {
        self.init(provider: FixedProvider(credential: credential))
    }

    deinit {
        hub.finish()
    }

    /// Returns a stream of all credential changes after this call, for instance to show a login screen or to clear
    /// caches.
    public func events() -> AsyncStream<CredentialEvent> {
        hub.stream(bufferingNewest: 64)
    }

    func publish(_ kind: CredentialEvent.Kind, in environment: ServiceEnvironment) {
        hub.send(CredentialEvent(environment: environment, kind: kind))
    }
}

// MARK: - Setting credentials

extension Credentials {
    /// Returns the credential of an environment, or `nil` if there is none or if the provider's stored credential has
    /// not been loaded yet.
    public func credential(in environment: ServiceEnvironment) -> Credential? {
        state.withLock { $0[environment]?.credential }
    }

    /// Returns the number of times that the credential of an environment has been replaced.
    package func version(in environment: ServiceEnvironment) -> UInt64 {
        state.withLock { $0[environment]?.version ?? 0 }
    }

    /// Sets the credential of an environment, for instance after a login.
    ///
    /// Requests that wait for a refresh continue with the new credential. If the new credential differs from the
    /// current credential, or if there was no credential, the new credential counts as the credential of another user.
    /// Calls of the previous user then end as cancelled, unless ``NetworkClient/Options/user`` returns the same name
    /// for both users. Data that clients have stored without a user's name is removed before this method returns. To
    /// restore a credential that the app stored at an earlier launch, use ``restore(_:in:)``.
    public func set(_ credential: Credential, in environment: ServiceEnvironment) {
        replace(with: credential, in: environment, .set)
    }

    /// Restores a credential that the app stored at an earlier launch.
    ///
    /// Call this method before the first request.
    ///
    /// The user counts as the same as in the earlier launch, so data stored on disk is kept. This call is not necessary
    /// if a provider stores the credential itself (``CredentialProvider/storedCredential(in:)``).
    public func restore(_ credential: Credential, in environment: ServiceEnvironment) {
        replace(with: credential, in: environment, .set, isSameUser: { $0.isOfLastRun })
    }

    /// Replaces the credential of the user who is logged in, for an app that refreshes tokens itself.
    ///
    /// The user stays the same, so active calls continue with the new credential, and stored responses are kept. If no
    /// user is logged in, nothing changes, so that a refresh that ends after a logout does not log the user in again.
    ///
    /// - Parameters:
    ///   - credential: The new credential.
    ///   - old: The credential that was refreshed. If the current credential is a different credential, nothing
    ///     changes. If `nil`, the default, any current credential is replaced.
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

    /// Removes the credential of an environment.
    ///
    /// Waiting and active calls of the user end with ``CredentialError/loggedOut`` before this method returns, except
    /// calls that outlive a logout (``APIConfiguration/outlivesLogout``). The result of a refresh in progress is
    /// discarded. Data that clients have stored without a user's name is removed before this method returns. Listeners
    /// of ``events()`` are notified, so that an app can remove the data stored under the user's name.
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
        let change = state.withLock { slots -> (waiters: [RefreshWaiter], isOtherUser: Bool)? in
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
            notifyUserObservers(environment)
            state.withLock { $0[environment]?.countUserChangeAfterNotification() }
        }
        let result: Result<Void, CredentialError> = credential == nil ? .failure(.loggedOut) : .success(())
        for waiter in waiters { waiter.resume(returning: result) }
        return true
    }

    /// Notifies the listeners and the provider of a change.
    ///
    /// This method is called under the lock that protects the change, so that the last notification matches the last
    /// change. For example, if a refresh ends during a logout, the logout is reported last. The notifications are only
    /// queued under the lock and are processed later.
    func tell(_ kind: CredentialEvent.Kind, keeping credential: Credential?, in environment: ServiceEnvironment) {
        publish(kind, in: environment)
        store(credential, in: environment)
    }

    /// Passes a credential to the provider for storage.
    ///
    /// Calls to the provider run one after the other, so that the credential that was set last is also stored last.
    ///
    /// No caller waits for the provider.
    private func store(_ credential: Credential?, in environment: ServiceEnvironment) {
        storing.withLock { storing in
            storing = Task { [provider, storing] in
                await storing?.value
                await provider.store(credential, in: environment)
            }
        }
    }
}

private struct RefreshingProvider: CredentialProvider {
    let body: @Sendable (CredentialRefresh) async throws -> Credential?

    func canRefresh(_ credential: Credential?) -> Bool { true }
    func refresh(_ refresh: CredentialRefresh) async throws -> Credential? { try await body(refresh) }
}

private struct FixedProvider: CredentialProvider {
    let credential: Credential

    func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? { credential }
}
