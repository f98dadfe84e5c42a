import SwitchyardHTTP
import SwitchyardServices

extension ClientCore {
    /// Whose call it is that is made now; `nil` where the client has no credentials, users and cookies.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - usesCredentials: Whether its sender goes with the client's credentials.
    ///   - pool: The servers that it goes to.
    ///   - isBound: Whether its sender is bound to the environment of `pool`.
    ///   - user: Names the user of each moment, in place of ``NetworkClient/Options/user``.
    /// - Returns: The owner.
    func callOwner(
        of configuration: APIConfiguration,
        usesCredentials: Bool,
        in pool: ServerPool,
        isBound: Bool,
        user: (@Sendable (ServiceEnvironment) -> String?)? = nil
    ) -> CallOwner? {
        let client = isBound ? nil : ObjectIdentifier(self)
        if let client, let owner = CallOwner.inherited(by: client, before: pool.environment),
            !configuration.outlivesLogout
        {
            return owner
        }
        guard knowsOwners else { return nil }
        let cookies = configuration.usesCookies ? pool.generator.cookies?.removals : nil
        guard usesCredentials, isBoundToLogin(configuration) else {
            return cookies.map { CallOwner(environment: pool.environment, client: client, cookies: $0) }
        }
        if let credentials = options.credentials, let owner = CallOwner.inherited(credentials, in: pool.environment) {
            return owner
        }
        return CallOwner(
            environment: pool.environment,
            source: options.credentials,
            user: user ?? options.user,
            client: client,
            cookies: cookies
        )
    }

    /// Whether a call goes as whoever is logged in: with the client's credentials, or where users have names alone.
    func isBoundToLogin(_ configuration: APIConfiguration) -> Bool {
        guard configuration.usesCredentials, configuration.credential == nil else { return false }
        return options.credentials.map { !$0.isBypassed } ?? (options.user != nil)
    }

    /// Ends what belongs to users who have gone, whether it waits or is under way.
    static func endCallsOfUsersGone(
        in environment: ServiceEnvironment,
        _ state: Locked<State>,
        _ transfers: TransferTable
    ) {
        for request in state.withLock({ $0.table.all }) {
            if let reason = request.configuration.refusal(in: environment) { request.cancel(reason) }
        }
        transfers.cancelOfUsersGone(in: environment)
    }
}

extension APIConfiguration {
    /// Why the call may not go on in an environment; `nil` while its owner is there, and for one that outlives a logout.
    func refusal(in environment: ServiceEnvironment) -> RequestFailure.Reason? {
        guard let owner = callOwner, owner.environment == environment, !outlivesLogout else { return nil }
        return owner.refusal
    }

    /// Whether the call was made in an environment; a call without an owner is made where it is sent.
    func isMade(in environment: ServiceEnvironment) -> Bool {
        rare?.value.callOwner.map { $0.environment == environment } ?? true
    }
}

extension NetworkClient {
    /// Whose call it is that is made now; `nil` where the client has no credentials, users and cookies, and one
    /// environment.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - presentUser: Names the user of each moment; the client's options do unless given.
    /// - Returns: The owner.
    package func callOwner(
        of configuration: APIConfiguration,
        presentUser: (@Sendable () -> String?)? = nil
    ) -> CallOwner? {
        guard core.knowsOwners || core.knowsEnvironments else { return nil }
        let pool = pool
        var user: (@Sendable (ServiceEnvironment) -> String?)?
        if let presentUser { user = { _ in presentUser() } }
        let owner = core.callOwner(
            of: configuration,
            usesCredentials: usesCredentials,
            in: pool,
            isBound: boundPool != nil,
            user: user
        )
        guard owner == nil, core.knowsEnvironments else { return owner }
        let client = boundPool == nil ? ObjectIdentifier(core) : nil
        return CallOwner(environment: pool.environment, client: client, cookies: nil)
    }

    /// Whether the user of a list is there at each later moment; keeps nothing of the client.
    ///
    /// - Parameters:
    ///   - user: The name of the user; told apart by the login where there is none.
    ///   - presentUser: Names the user of each moment.
    /// - Returns: Whether the user is there.
    package func watchingUser(
        _ user: String?,
        _ presentUser: @escaping @Sendable () -> String?
    ) -> @Sendable () -> Bool {
        if let user { return { presentUser() == user } }
        guard let credentials = core.options.credentials else { return { presentUser() == nil } }
        let environment = environment
        let number = credentials.login(in: environment).number
        return { presentUser() == nil && credentials.login(in: environment).number == number }
    }

    /// Whether the present environment is in use at each later moment; keeps nothing of the client.
    package func watchingEnvironment() -> @Sendable () -> Bool {
        guard boundPool == nil else { return { true } }
        let environment = environment
        let state = core.state.weakly
        return { state.locked?.withLock { $0.pool.environment == environment } ?? true }
    }

    /// How a call ends whose user has gone before its response was handed over; `nil` while the user is there.
    package func failure(ofOwnerGone configuration: APIConfiguration) -> RequestFailure? {
        guard let owner = configuration.rare?.value.callOwner,
            let reason = configuration.refusal(in: owner.environment)
        else { return nil }
        var context = RequestContext(
            service: place.service,
            environment: owner.environment,
            method: configuration.sentMethod,
            elapsed: .zero
        )
        context.path = configuration.place
        context.mayHaveBeenExecuted = configuration.hasEffect
        return RequestFailure(reason, id: RequestID(), context: context)
    }

    /// The owner of a call that is made now for a user of that name, and for no other.
    package func callOwner(named name: String) -> CallOwner {
        let pool = pool
        return CallOwner(
            environment: pool.environment,
            source: core.options.credentials,
            user: core.options.user,
            name: name,
            client: nil,
            cookies: pool.generator.cookies?.removals
        )
    }
}
