import SwitchyardHTTP
package import SwitchyardServices

/// Whose call it is: the user and the environment of the moment at which the call is made.
///
/// The owner is taken before the call leaves the thread of its caller. It travels with the call through every round, wait
/// and part, and decides with which credential the call goes and whether its response is still wanted.
///
/// Two owners are the same user when both have a name and the names are equal, and nobody has logged out in between.
/// Without a name they are the same as long as no other credential was set. A refresh changes no owner. A call that is
/// made while nobody is logged in is nobody's, and becomes the call of the user whose credential it goes with first.
package final class CallOwner: Sendable {
    /// What tells one owner from another.
    package struct Key: Sendable, Hashable {
        var environment: ServiceEnvironment
        /// The login that the call is bound to; `nil` for a call that goes without the client's credentials.
        var login: Login?
        /// How often the cookies had been removed.
        var cookies: UInt64?
    }

    /// A login as far as a call is bound to it.
    struct Login: Sendable, Hashable {
        /// The name of the user; `nil` where none is given.
        var user: String?
        /// The number of the login, which counts users without a name.
        var number: UInt64
        /// How often a user had logged out.
        var logOuts: UInt64
        /// Whether nobody was logged in.
        var isNobody: Bool
    }

    /// The owners of the calls that the present work belongs to: a chain goes on as whoever has begun it.
    @TaskLocal package static var inherited: [CallOwner] = []

    /// The inherited owner of a call with these credentials in an environment.
    static func inherited(_ source: any LoginSource, in environment: ServiceEnvironment) -> CallOwner? {
        inherited.first { $0.source === source && $0.environment == environment }
    }

    /// Returns the inherited owner of a call that a client makes after it has left the environment of that owner.
    static func inherited(by client: ObjectIdentifier, before environment: ServiceEnvironment) -> CallOwner? {
        inherited.first { $0.client == client && $0.environment != environment }
    }

    /// The environment of the call.
    package let environment: ServiceEnvironment
    /// The client that made the call; `nil` if the call was made through a handle that is bound to one environment.
    let client: ObjectIdentifier?
    /// How often the cookies had been removed when the call was made; `nil` for a call without cookies.
    let cookies: UInt64?
    /// The credential of that moment, for a call that outlives a logout.
    let credential: Credential?
    private let source: (any LoginSource)?
    private let user: (@Sendable (ServiceEnvironment) -> String?)?
    private let login: Locked<Login?>

    /// Takes the owner of a call that is made now.
    ///
    /// - Parameters:
    ///   - environment: The environment of the call.
    ///   - source: Who is logged in; `nil` for a client without credentials.
    ///   - user: Names the user of each moment; `nil` where users have no names.
    ///   - name: The only user for whom the call may be sent; the user of this moment when `nil`.
    ///   - client: The client that makes the call, unless its handle is bound to one environment.
    ///   - cookies: How often the cookies have been removed.
    init(
        environment: ServiceEnvironment,
        source: (any LoginSource)?,
        user: (@Sendable (ServiceEnvironment) -> String?)?,
        name: String? = nil,
        client: ObjectIdentifier?,
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
    init(environment: ServiceEnvironment, client: ObjectIdentifier?, cookies: UInt64?) {
        self.environment = environment
        self.client = client
        self.cookies = cookies
        (source, user, credential, login) = (nil, nil, nil, Locked(nil))
    }

    /// What tells this owner from another.
    package var key: Key { Key(environment: environment, login: login.withLock { $0 }, cookies: cookies) }

    /// Whether the call is bound to a login.
    var isBound: Bool { login.withLock { $0 != nil } }

    /// The name of the user; `nil` where none is given.
    package var name: String? { login.withLock { $0?.user } }

    /// Why the call may not go on; `nil` while its user is still there.
    package var refusal: RequestFailure.Reason? { refusal(seeing: nil) }

    /// Whether the user is still there.
    package var isPresent: Bool { refusal == nil }

    /// Why the call may not go on with a login; `nil` while its user is still there.
    ///
    /// - Parameter seen: The login, as it was seen together with the credential that the call would take; that of this
    ///   moment when `nil`.
    /// - Returns: ``RequestFailure/Reason/cancelled`` where another user has logged in, ``CredentialError/loggedOut`` where
    ///   nobody has.
    func refusal(seeing seen: PresentLogin?) -> RequestFailure.Reason? {
        guard let own = login.withLock({ $0 }), !own.isNobody else { return nil }
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

    /// What names the owner on a disk: by the name of the user, or, where there is none, by the login of this run and by
    /// the credential; none for a call of nobody's.
    ///
    /// A name is not written out, and of a credential a digest only. Of one with a password the name of its user counts.
    package var marks: [String] {
        guard let own = login.withLock({ $0 }), !own.isNobody else { return [] }
        if let name = own.user { return [Self.mark("user", name)] }
        guard let source else { return [] }
        let present = source.login(in: environment)
        let run = Self.mark("login", "\(Self.run) \(environment.rawValue) \(own.number)")
        let used = present.number == own.number ? present.credential : credential
        return [run] + (used.map { [Self.mark("credential", $0.scheme.identity)] } ?? [])
    }

    /// Tells this run of the process from every other.
    private static let run = UInt64.random(in: .min ... .max)

    private static func mark(_ kind: String, _ text: String) -> String {
        "\(kind) \(MessageDigest.sha256(text.utf8).hexText)"
    }

    /// Makes a call of nobody's the call of the user whose credential it takes.
    func adopt(_ present: PresentLogin) {
        guard present.credential != nil, login.withLock({ $0?.isNobody }) == true else { return }
        // Asked without the lock: it is the app that says who its user is.
        let name = user?(environment)
        login.withLock { login in
            guard login?.isNobody == true else { return }
            login = Login(user: name, number: present.number, logOuts: present.logOuts, isNobody: false)
        }
    }
}

/// Who is logged in to an environment at one moment.
struct PresentLogin: Sendable {
    /// The number of the login: it changes when another user logs in, and when the user logs out.
    var number: UInt64 = 0
    /// How often a user has logged out.
    var logOuts: UInt64 = 0
    /// The credential; `nil` while nobody is logged in.
    var credential: Credential?
}

/// Says who is logged in.
protocol LoginSource: AnyObject, Sendable {
    /// Who is logged in to an environment now.
    func login(in environment: ServiceEnvironment) -> PresentLogin
}
