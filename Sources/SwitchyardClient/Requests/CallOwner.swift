import SwitchyardHTTP
package import SwitchyardServices

/// The owner of a call: the user and the environment at the moment the call is made.
///
/// The owner is determined before the call leaves the thread of its caller. It applies to all retries, pauses and
/// partial requests of the call. The owner determines which credential the call carries and whether its response may
/// still be delivered.
///
/// Two owners are the same user if both have the same name and no logout happened in between. Owners without a name are
/// the same user as long as no other credential was set. A token refresh does not change the owner. A call that is made
/// while no user is logged in has no user. It becomes a call of the user whose credential it carries first.
package final class CallOwner: Sendable {
    /// The values by which owners are compared.
    package struct Key: Sendable, Hashable {
        var environment: ServiceEnvironment
        /// The login that the call is bound to, or `nil` for a call that does not carry the client's credentials.
        var login: Login?
        /// The number of times that the cookies had been removed when the call was made, or `nil` for a call without
        /// cookies.
        var cookies: UInt64?
    }

    /// The login that a call is bound to, as recorded when the call was made.
    struct Login: Sendable, Hashable {
        /// The name of the user, or `nil` if the client does not know users by name (`NetworkClient.Options.user`).
        var user: String?
        /// A number that identifies the login.
        ///
        /// The number distinguishes users whose names are unknown.
        var number: UInt64
        /// The number of logouts before the call was made.
        var logOuts: UInt64
        /// Whether no user was logged in.
        var isNobody: Bool
    }

    /// The owners (users and environments) that calls of the current task inherit.
    ///
    /// A chain of calls therefore belongs to the user who started it, even if another user logs in meanwhile.
    @TaskLocal package static var inherited: [CallOwner] = []

    /// Returns the inherited owner of a call in an environment.
    ///
    /// - Parameters:
    ///   - source: The source of the current login, or `nil` for a call that does not depend on a login.
    ///   - client: The client of the call, or `nil` for a call that does not follow the client's environment or login.
    ///   - environment: The environment of the call.
    /// - Returns: The owner of the chain of calls in this environment. If the client has switched the environment since
    ///   the chain began, the owner in the old environment, so that the call ends.
    static func inherited(
        _ source: (any LoginSource)?,
        by client: ClientIdentity?,
        in environment: ServiceEnvironment
    ) -> CallOwner? {
        let owners = inherited
        let own = client.map { client in owners.filter { $0.client === client } } ?? []
        if let first = own.first {
            let present = own.filter { $0.environment == environment }
            guard !present.isEmpty else { return first }
            if let bound = present.first(where: \.isBound) { return bound }
        }
        return source.flatMap { source in
            owners.first { $0.source === source && $0.environment == environment }
        }
    }

    /// The environment of the call.
    package let environment: ServiceEnvironment
    /// The number of times that the cookies had been removed when the call was made, or `nil` for a call without
    /// cookies.
    let cookies: UInt64?
    /// The client whose environment and login the call follows.
    ///
    /// `nil` for a call without the client's credentials, and for a call that stays with its servers when the client
    /// switches the environment.
    private let client: ClientIdentity?
    /// The credential at the moment the call was made, for a call that outlives a logout.
    let credential: Credential?
    private let source: (any LoginSource)?
    private let user: (@Sendable (ServiceEnvironment) -> String?)?
    /// The login of the call, or `nil` for a call that is bound to no login.
    private let login: Locked<Login>?

    /// Creates the owner of a call that is made now.
    ///
    /// - Parameters:
    ///   - environment: The environment of the call.
    ///   - source: The source of the current login. If `nil`, the client has no credentials.
    ///   - user: Returns the name of the current user. If `nil`, users have no names.
    ///   - name: The name of the only user for whom the call may be sent. If `nil`, the current user.
    ///   - client: The client whose environment the call follows, if any.
    ///   - cookies: The number of times the cookies have been removed.
    init(
        environment: ServiceEnvironment,
        source: (any LoginSource)?,
        user: (@Sendable (ServiceEnvironment) -> String?)?,
        name: String? = nil,
        client: ClientIdentity? = nil,
        cookies: UInt64?
    ) {
        self.environment = environment
        self.client = client
        self.source = source
        self.user = user
        self.cookies = cookies
        let name = name ?? user?(environment)
        let present = source?.login(in: environment) ?? PresentLogin()
        credential = present.credential
        login = Locked(
            Login(
                user: name,
                number: present.number,
                logOuts: present.logOuts,
                isNobody: name == nil && present.credential == nil
            )
        )
    }

    /// Creates the owner of a call that is bound to no login.
    init(environment: ServiceEnvironment, client: ClientIdentity? = nil, cookies: UInt64?) {
        self.environment = environment
        self.client = client
        self.cookies = cookies
        (source, user, credential, login) = (nil, nil, nil, nil)
    }

    /// The values by which this owner is compared.
    package var key: Key { Key(environment: environment, login: login?.withLock { $0 }, cookies: cookies) }

    /// Whether the call is bound to a login.
    ///
    /// A call that is bound to no login does not end at a logout.
    package var isBound: Bool { login != nil }

    /// The name of the user, or `nil` if the call has none.
    package var name: String? { login?.withLock { $0.user } }

    /// The reason why the call must not continue, or `nil` while its user is logged in.
    package var refusal: RequestFailure.Reason? { refusal(seeing: nil) }

    /// Returns the reason why the call must not continue, or `nil` while its user is logged in.
    ///
    /// - Parameter seen: The login that was read together with the credential that the call would carry. If `nil`, the
    ///   current login.
    /// - Returns: ``CredentialError/loggedOut`` if the user has logged out and no user has logged in since, otherwise
    ///   ``RequestFailure/Reason/cancelled``.
    func refusal(seeing seen: PresentLogin?) -> RequestFailure.Reason? {
        guard let own = login?.withLock({ $0 }), !own.isNobody else { return nil }
        let present = seen ?? source?.login(in: environment) ?? PresentLogin()
        let isOwn =
            if let name = own.user, let user {
                user(environment) == name && present.logOuts == own.logOuts
            } else {
                present.number == own.number
            }
        if isOwn { return nil }
        let isLoggedOut = present.logOuts != own.logOuts && present.credential == nil
        return isLoggedOut ? .credentials(.loggedOut) : .cancelled
    }

    /// The strings that identify the owner (the user and environment of a call) on disk.
    ///
    /// They are derived from the name of the user. Without a name, they are derived from the login in this run of the
    /// process and from the credential. For a call without a user, the array is empty. Names and credentials are
    /// written only as digests. The digest of a credential with a password covers only its user name.
    package var marks: [String] {
        guard let own = login?.withLock({ $0 }), !own.isNobody else { return [] }
        if let name = own.user { return [Self.mark("user", name)] }
        guard let source else { return [] }
        let present = source.login(in: environment)
        let run = Self.mark("login", "\(Self.run) \(environment.rawValue) \(own.number)")
        let used = present.number == own.number ? present.credential : credential
        return [run] + (used.map { [Self.mark("credential", $0.scheme.identity)] } ?? [])
    }

    /// A random number that distinguishes this run of the process from every other.
    private static let run = UInt64.random(in: .min ... .max)

    private static func mark(_ kind: String, _ text: String) -> String {
        "\(kind) \(MessageDigest.sha256(text.utf8).hexText)"
    }

    /// Binds a call without a user to the user of another call whose response it shares.
    package func adopt(_ other: CallOwner) {
        guard let theirs = other.login?.withLock({ $0 }), !theirs.isNobody else { return }
        login?.withLock { login in
            if login.isNobody { login = theirs }
        }
    }

    /// Binds a call without a user to the user whose credential it carries.
    func adopt(_ present: PresentLogin) {
        guard present.credential != nil, let login, login.withLock({ $0.isNobody }) else { return }
        // The closure is called without the lock, because it is code of the app.
        let name = user?(environment)
        login.withLock { login in
            guard login.isNobody else { return }
            login = Login(user: name, number: present.number, logOuts: present.logOuts, isNobody: false)
        }
    }
}

/// Identifies a client together with all handles made from it.
final class ClientIdentity: Sendable {}

/// The login to an environment at one moment.
struct PresentLogin: Sendable {
    /// A number that identifies the login, and changes when another user logs in and when the user logs out.
    var number: UInt64 = 0
    /// The number of logouts so far.
    var logOuts: UInt64 = 0
    /// The credential, or `nil` while no user is logged in.
    var credential: Credential?
}

/// A source of the current login.
protocol LoginSource: AnyObject, Sendable {
    /// Returns the current login to an environment.
    func login(in environment: ServiceEnvironment) -> PresentLogin
}
