public import SwitchyardServices

/// A type that stores and refreshes credentials.
///
/// All methods have default implementations. If the app sets its credentials itself, its provider need not implement
/// any of them.
public protocol CredentialProvider: Sendable {
    /// Returns the stored credential, for instance from a keychain.
    ///
    /// This method is called once per environment, before the first request. The default implementation returns `nil`,
    /// which means that there is no stored credential.
    func storedCredential(in environment: ServiceEnvironment) async throws -> Credential?

    /// Returns whether ``refresh(_:)`` can refresh this credential.
    ///
    /// The default implementation returns `true` if the credential has a refresh token.
    func canRefresh(_ credential: Credential?) -> Bool

    /// Returns a new credential.
    ///
    /// This method is called once, however many requests wait for the result. Requests that it sends through
    /// ``CredentialRefresh/client`` omit the credentials, so they do not wait for this refresh. Requests that it sends
    /// through any other client omit the credentials too, if they are sent from the same task or a child task.
    ///
    /// A detached task and a callback on a queue are different tasks: their requests through another client wait for
    /// this refresh. If this refresh waits for such a request too, both end after ``Credentials/Policy/timeout``. In
    /// such code, use ``CredentialRefresh/client``.
    ///
    /// - Parameter refresh: The credential to refresh, and the reason.
    /// - Returns: The new credential, or `nil` if no new credential is available. If `nil`, the app gets the 401
    ///   response, and the current credential is used until it expires. A credential that no header field can hold
    ///   counts as an unreadable response, ``TokenRefreshFailure/Cause/unreadable``.
    /// - Throws: ``CredentialError/loginRequired`` if trying again is useless. Every other error allows another try.
    func refresh(_ refresh: CredentialRefresh) async throws -> Credential?

    /// Stores a credential for the next launch, or deletes the stored credential if `credential` is `nil`.
    ///
    /// The default implementation does nothing.
    func store(_ credential: Credential?, in environment: ServiceEnvironment) async
}

extension CredentialProvider {
    /// Returns `nil`, because nothing is stored.
    public func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? { nil }
    /// Returns whether the credential has a refresh token.
    public func canRefresh(_ credential: Credential?) -> Bool { credential?.refreshToken != nil }
    /// Returns `nil`, so the app gets the 401 response.
    public func refresh(_ refresh: CredentialRefresh) async throws -> Credential? { nil }
    /// By default, does nothing.
    public func store(_ credential: Credential?, in environment: ServiceEnvironment) async {}
}

/// The credential to refresh, and the reason.
public struct CredentialRefresh: Sendable {
    /// The credential that has expired or was refused, or `nil` if there was none.
    public var credential: Credential?
    /// The environment that the credential belongs to.
    public var environment: ServiceEnvironment
    /// The challenges of the 401 response, or an empty array if the credential is refreshed for another reason.
    public var challenges: [AuthenticationChallenge]
    /// A client for the requests that the refresh needs.
    ///
    /// Requests through this client omit the credentials, whatever task sends them. The requests are sent to
    /// ``environment``, even if the app has switched to another environment in the meantime.
    public var client: NetworkClient

    /// Creates a refresh for testing a provider.
    ///
    /// In contrast to a real refresh, requests through `client` may carry credentials: `client` sends them as usual.
    public init(
        credential: Credential?,
        environment: ServiceEnvironment,
        challenges: [AuthenticationChallenge] = [],
        client: NetworkClient
    ) {
        self.credential = credential
        self.environment = environment
        self.challenges = challenges
        self.client = client
    }
}

/// A change of the credentials of an environment.
public struct CredentialEvent: Sendable, Hashable {
    /// The kind of change.
    public enum Kind: Sendable, Hashable {
        /// The app set a credential.
        case set
        /// The credential was refreshed.
        case refreshed
        /// The refresh failed, and every request that waited for the new credential has failed with this error.
        ///
        /// If the old credential has not expired yet, the requests do not fail but are sent with the old credential.
        case failed(CredentialError)
        /// The user logged out, so data stored for this user should be removed.
        case loggedOut
    }

    /// The environment whose credentials changed.
    public var environment: ServiceEnvironment
    /// The kind of change.
    public var kind: Kind

    /// Creates an event.
    package init(environment: ServiceEnvironment, kind: Kind) {
        self.environment = environment
        self.kind = kind
    }
}

extension CredentialEvent: CustomStringConvertible {
    /// The environment and the kind of change in one line, without any secret.
    public var description: String { "\(environment): \(kind)" }
}

extension CredentialEvent.Kind: CustomStringConvertible {
    /// The kind of change in words, without any secret.
    public var description: String {
        switch self {
        case .set: "credentials set"
        case .refreshed: "credentials refreshed"
        case .failed(let error): "credentials not refreshed: \(error)"
        case .loggedOut: "logged out"
        }
    }
}
