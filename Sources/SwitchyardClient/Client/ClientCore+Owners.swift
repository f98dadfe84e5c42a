import SwitchyardHTTP
package import SwitchyardServices

extension ClientCore {
    /// Returns whether a call would carry the client's credentials, provided that the client has credentials.
    func goesAsPresentUser(_ configuration: APIConfiguration) -> Bool {
        configuration.usesCredentials && configuration.credential == nil && options.credentials?.isBypassed != true
    }

    /// Ends the waiting and active calls of users who have logged out.
    static func endCallsOfFormerUsers(
        in environment: ServiceEnvironment,
        _ state: Locked<State>,
        _ transfers: TransferTable
    ) {
        for request in state.withLock({ $0.table.all }) {
            if let reason = request.configuration.refusal(in: environment) { request.cancel(reason) }
        }
        transfers.cancelCallsOfFormerUsers(in: environment)
    }
}

extension APIConfiguration {
    /// Whether the call is bound to a login, so that it ends when its user has logged out.
    package var isBoundToLogin: Bool { callOwner?.isBound == true }

    /// Returns the reason why the call must end because its user has logged out of an environment.
    ///
    /// - Returns: The reason, or `nil` if the user is still logged in, if the call belongs to another environment or to
    ///   no user, or if the call outlives a logout.
    func refusal(in environment: ServiceEnvironment) -> RequestFailure.Reason? {
        callOwner?.environment == environment ? refusal(of: callOwner) : nil
    }

    /// Returns the reason why the call must end because its user has logged out, if there is one.
    func refusal(of owner: CallOwner?) -> RequestFailure.Reason? { outlivesLogout ? nil : owner?.refusal }
}

extension NetworkClient {
    /// Returns the owner of a call: the user and the environment at the time when the call is made.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the call.
    ///   - presentUser: A closure that returns the current user. If `nil`, ``NetworkClient/Options/user`` applies.
    ///   - needsUser: Whether a call that depends neither on a login nor on cookies gets no owner. Pass `true` for a
    ///     call that is dispatched immediately, because its environment cannot change before the dispatch.
    /// - Returns: The owner, or `nil` if the client has neither credentials nor users nor cookies, and only one
    ///   environment.
    package func callOwner(
        of configuration: APIConfiguration,
        presentUser: (@Sendable () -> String?)? = nil,
        needsUser: Bool = false
    ) -> CallOwner? {
        let knowsEnvironments = core.knowsEnvironments
        guard core.knowsOwners || knowsEnvironments else { return nil }
        let pool = pool
        let goesAsPresent = usesCredentials && core.goesAsPresentUser(configuration)
        let isOfLogin = goesAsPresent && core.options.hasLogins
        let client = goesAsPresent && boundPool == nil ? core.identity : nil
        if goesAsPresent, !CallOwner.inherited.isEmpty {
            let source = isOfLogin ? core.options.credentials : nil
            if let owner = CallOwner.inherited(source, by: client, in: pool.environment) { return owner }
        }
        let cookies = configuration.usesCookies ? pool.generator.cookies?.removals : nil
        guard isOfLogin else {
            guard cookies != nil || knowsEnvironments && !needsUser else { return nil }
            return CallOwner(environment: pool.environment, client: client, cookies: cookies)
        }
        var user = core.options.user
        if let presentUser { user = { _ in presentUser() } }
        return CallOwner(
            environment: pool.environment,
            source: core.options.credentials,
            user: user,
            client: client,
            cookies: cookies
        )
    }

    /// Returns a closure that reports whether a user is still logged in.
    ///
    /// The closure does not retain the client.
    ///
    /// - Parameters:
    ///   - user: The name of the user. If `nil`, the user is identified by the number of the login.
    ///   - presentUser: A closure that returns the current user.
    /// - Returns: A closure that returns whether the user is logged in.
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

    /// Returns a closure that reports whether the client still uses the environment that it uses now.
    ///
    /// The closure does not retain the client. If the handle is bound to servers, the closure always returns `true`.
    package func watchingEnvironment() -> @Sendable () -> Bool {
        guard boundPool == nil else { return { true } }
        let environment = environment
        let state = core.state.weakly
        return { state.locked?.withLock { $0.pool.environment == environment } ?? true }
    }

    /// Returns the failure of a call whose user has logged out before the response was delivered, or `nil` if the user
    /// is still logged in.
    package func failure(ofOwnerGone configuration: APIConfiguration) -> RequestFailure? {
        guard let owner = configuration.callOwner,
            let reason = configuration.refusal(in: owner.environment)
        else { return nil }
        return failure(reason, of: configuration, by: owner, mayHaveBeenExecuted: configuration.hasEffect)
    }

    /// Returns the failure of a call that may not start because its user has logged out or the environment has changed.
    package func failure(
        ofOwnerGone configuration: APIConfiguration,
        beforeBeginningIn environment: ServiceEnvironment
    ) -> RequestFailure? {
        guard let owner = configuration.callOwner else { return nil }
        let reason = owner.environment == environment ? configuration.refusal(in: environment) : .cancelled
        return reason.map { failure($0, of: configuration, by: owner, mayHaveBeenExecuted: false) }
    }

    private func failure(
        _ reason: RequestFailure.Reason,
        of configuration: APIConfiguration,
        by owner: CallOwner,
        mayHaveBeenExecuted: Bool
    ) -> RequestFailure {
        var context = RequestContext(
            service: place.service,
            environment: owner.environment,
            method: configuration.sentMethod,
            elapsed: .zero
        )
        context.path = configuration.place
        context.mayHaveBeenExecuted = mayHaveBeenExecuted
        return RequestFailure(reason, id: RequestID(), context: context)
    }

    /// Returns an owner for a call that is made now by the user with this name.
    package func callOwner(named name: String) -> CallOwner {
        let pool = pool
        return CallOwner(
            environment: pool.environment,
            source: core.options.credentials,
            user: core.options.user,
            name: name,
            cookies: pool.generator.cookies?.removals
        )
    }
}
