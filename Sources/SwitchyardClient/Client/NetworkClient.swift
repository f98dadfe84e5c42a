public import Dispatch
package import SwitchyardHTTP
public import SwitchyardServices
public import SwitchyardTransport

/// Sends the requests of one service: picks the server, fails over, and ends each request exactly once.
///
/// A client is made from a ``/SwitchyardServices/Service`` and handed to the API managers that use it. Any thread may
/// call it. There is no shared client: an app composes its own.
///
/// ### Lifetime
/// Releasing a client cancels the requests that were sent through it with the completion form (the async form keeps it
/// alive until the answer is there). A manager that takes ``scoped()`` therefore takes its requests with it when it
/// goes. When the last client of a family is gone, a transport that the library made is shut down; one that was handed
/// in is left alone.
public final class NetworkClient: Sendable {
    package let core: ClientCore
    let owner: OwnerID
    private let isRoot: Bool
    package let usesCredentials: Bool
    /// The servers that its requests are bound to, whatever environment is entered; those in use when `nil`.
    let boundTarget: ClientCore.Target?
    /// What lives as long as this handle.
    package let companions = Companions()
    /// What lives as long as an app keeps the client or one of its scopes.
    ///
    /// The core does not keep it: so it may hold what holds a ``detached()`` handle.
    package let familyCompanions: Companions

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - service: The service to talk to.
    ///   - environment: The environment to start in; the service's default when `nil`.
    ///   - transport: What carries the requests; the system's default when `nil`.
    ///   - options: Deadlines, limits and what is common to all requests.
    ///   - time: The clock and the timers; the system's unless given.
    /// - Throws: ``ClientError`` when the service lacks the environment, a base URL may not or cannot be asked, the retry
    ///   policy makes no sense, or the transport cannot be made.
    public convenience init(
        service: Service,
        environment: ServiceEnvironment? = nil,
        transport: (any Transport)? = nil,
        options: Options = Options(),
        time: any TimeSource = SystemTime.shared
    ) throws(ClientError) {
        self.init(
            core: try ClientCore(
                service: service,
                environment: environment ?? service.defaultEnvironment,
                transport: transport,
                time: time,
                options: options
            ),
            isRoot: true
        )
    }

    init(
        core: ClientCore,
        isRoot: Bool,
        usesCredentials: Bool = true,
        boundTo target: ClientCore.Target? = nil,
        family: Companions = Companions()
    ) {
        self.core = core
        self.isRoot = isRoot
        self.usesCredentials = usesCredentials
        familyCompanions = family
        boundTarget = target
        owner = core.makeOwner()
    }

    deinit {
        core.cancelAll(of: owner)
    }

    /// A client that shares everything with this one but owns the requests sent through it.
    ///
    /// Releasing it, or calling its ``cancelAll()``, ends these requests and no others. Each API manager takes one.
    public func scoped() -> NetworkClient {
        scope(usesCredentials: usesCredentials, family: familyCompanions)
    }

    /// A client like ``scoped()`` whose requests go without the credentials of the options, for logins and their like.
    public func withoutCredentials() -> NetworkClient {
        scope(usesCredentials: false, family: familyCompanions)
    }

    /// A scope for the library's own objects, which keeps nothing of what ``familyCompanions`` keeps.
    package func detached() -> NetworkClient {
        scope(usesCredentials: usesCredentials, family: Companions())
    }

    private func scope(usesCredentials: Bool, family: Companions) -> NetworkClient {
        NetworkClient(
            core: core,
            isRoot: false,
            usesCredentials: usesCredentials,
            boundTo: boundTarget,
            family: family
        )
    }
}

extension NetworkClient {
    /// What lives as long as the client with all its scopes.
    package var sharedCompanions: Companions { core.companions }

    /// The clock and the timers.
    package var time: any TimeSource { core.time }

    /// When a request that starts now ends whatever happens; `nil` without a deadline.
    package func deadline(of configuration: APIConfiguration) -> MonotonicTime? {
        let deadline = core.deadline(of: configuration, in: target.pool, startedAt: core.time.now)
        return deadline < .distantFuture ? deadline : nil
    }

    /// What a request that starts now is sent to.
    package var target: ClientCore.Target { boundTarget ?? core.target }

    /// Whether a call that the present task sends gets a credential: its own, or one of the options, which what belongs
    /// to their renewal goes without.
    package func authorizes(_ configuration: APIConfiguration) -> Bool {
        usesCredentials && (configuration.credential != nil || core.options.credentials?.isBypassed != true)
    }

    /// The fields that go with a call beside its own and may change from one call to the next: those that the app computes,
    /// and in place of the jar's cookies how often they have changed.
    package func varyingFields(of configuration: APIConfiguration) throws(RequestError) -> HTTPHeaders {
        let generator = target.pool.generator
        var fields = HTTPHeaders()
        for field in try generator.common.computedFields(configuration).fields
        where configuration.headers[field.name] == nil {
            fields.add(field.name, field.value)
        }
        if configuration.usesCookies, configuration.headers["Cookie"] == nil, let changes = generator.cookies?.changes {
            fields.set("Cookie", "\(changes)")
        }
        return fields
    }
}

// MARK: - Cancelling

extension NetworkClient {
    /// Cancels one request; one that has ended, or never was, is left alone.
    public func cancel(_ id: RequestID) {
        core.cancel(CollectionOfOne(id))
    }

    /// Cancels several requests.
    public func cancel(_ ids: some Sequence<RequestID>) {
        core.cancel(ids)
    }

    /// Cancels all requests sent through this client; those sent through its scopes too when it is not a scope itself.
    ///
    /// What a renewal of the ``Options/credentials`` sends goes on, and is not among ``activeRequests``: the refresh token
    /// may have been spent, and the login would be lost with the answer. ``shutdown()`` ends it.
    public func cancelAll() {
        core.cancelAll(of: scope)
    }

    /// The requests under way that ``cancelAll()`` would cancel, oldest first.
    public var activeRequests: [RequestID] {
        Set(active.map(\.id)).union(core.transfers.ids(of: scope)).sorted()
    }

    /// Whose requests are concerned: those of this scope, or all when it is none.
    var scope: OwnerID? { isRoot ? nil : owner }

    /// The requests under way of this client, or of this scope.
    var active: [any DispatchedRequest] {
        core.ordinaryRequests(of: scope).filter { $0.owner != ClientCore.ownerOfShared }
    }

    /// Ends the client: requests under way end with ``RequestFailure/Reason/closed``, as does every later one.
    ///
    /// It concerns all scopes and shuts the transport down. Calling it again is harmless.
    public func shutdown() {
        core.shutdown()
    }
}
