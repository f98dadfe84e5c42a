public import SwitchyardServices

/// Where credentials are kept, and how they are renewed.
///
/// All methods have defaults: a provider that does nothing lets an app set credentials by hand.
public protocol CredentialProvider: Sendable {
    /// The credential that was kept, from a keychain for instance.
    ///
    /// Asked once for each environment, before its first request; `nil`, the default, when there is none.
    func storedCredential(in environment: ServiceEnvironment) async throws -> Credential?

    /// Whether ``renew(_:)`` can make something of this credential; by default only if it has a refresh token.
    func canRenew(_ credential: Credential?) -> Bool

    /// Gets a new credential.
    ///
    /// Called once however many requests wait for it. What it sends through the client of ``CredentialRenewal/client``,
    /// or through any client from the same task or a child of it, goes without credentials and so cannot wait for itself.
    /// A detached task, or a callback on a queue, is not the same task: what it sends through another client is a request
    /// like any other, which waits for this renewal; if the renewal waits for it in turn, both end with
    /// ``Credentials/Policy/timeout``. Use ``CredentialRenewal/client`` there.
    ///
    /// - Parameter renewal: What is to be renewed, and why.
    /// - Returns: The new credential; `nil` when there is no other. Then a 401 is left to the caller, and the present
    ///   credential goes as long as it is good. One that no header field can hold counts as an answer that cannot be read,
    ///   ``RenewalOutage/Cause/unreadable``.
    /// - Throws: ``CredentialError/loginRequired`` when trying again is no use; anything else counts as passing.
    func renew(_ renewal: CredentialRenewal) async throws -> Credential?

    /// Keeps a credential for the next launch, or forgets it when it is `nil`; by default does nothing.
    func store(_ credential: Credential?, in environment: ServiceEnvironment) async
}

extension CredentialProvider {
    /// Nothing was kept.
    public func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? { nil }
    /// Whether there is a refresh token.
    public func canRenew(_ credential: Credential?) -> Bool { credential?.refreshToken != nil }
    /// Leaves the 401 to the caller.
    public func renew(_ renewal: CredentialRenewal) async throws -> Credential? { nil }
    /// Does nothing.
    public func store(_ credential: Credential?, in environment: ServiceEnvironment) async {}
}

/// What is to be renewed, and why.
public struct CredentialRenewal: Sendable {
    /// The credential that is no longer good; `nil` when there was none.
    public var credential: Credential?
    /// The environment that it belongs to.
    public var environment: ServiceEnvironment
    /// What the service asked for, when it refused; empty when the credential is renewed before its end.
    public var challenges: [AuthenticationChallenge]
    /// The client of the request that caused it; what is sent through it goes without credentials, from any task, and to
    /// ``environment``, also when the app has entered another one since.
    public var client: NetworkClient

    /// Creates a renewal, to try a provider with; what is sent through its client goes as that client sends it.
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

/// Something that happened to the credentials of an environment.
public struct CredentialEvent: Sendable, Hashable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// A credential was set from outside.
        case set
        /// It was renewed.
        case renewed
        /// It could not be renewed; every request that waited has failed with this, unless it was to be renewed before
        /// its end and is good still.
        case failed(CredentialError)
        /// The user logged out: what was stored for this user has to go.
        case loggedOut
    }

    /// The environment.
    public var environment: ServiceEnvironment
    /// What happened.
    public var kind: Kind

    /// Creates an event.
    public init(environment: ServiceEnvironment, kind: Kind) {
        self.environment = environment
        self.kind = kind
    }
}

extension CredentialEvent: CustomStringConvertible {
    /// What happened where, in one line without any secret.
    public var description: String { "\(environment): \(kind)" }
}

extension CredentialEvent.Kind: CustomStringConvertible {
    /// What happened, without any secret.
    public var description: String {
        switch self {
        case .set: "credentials set"
        case .renewed: "credentials renewed"
        case .failed(let error): "credentials not renewed: \(error)"
        case .loggedOut: "logged out"
        }
    }
}
