public import Foundation
public import SwitchyardHTTP
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
    let boundPool: ServerPool?
    /// What lives as long as this handle.
    package let objects = AssociatedObjects()
    /// What lives as long as an app keeps the client or one of its scopes.
    ///
    /// The core does not keep it: so it may hold what holds a ``detached()`` handle.
    package let familyObjects: AssociatedObjects

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
        boundTo pool: ServerPool? = nil,
        family: AssociatedObjects = AssociatedObjects()
    ) {
        self.core = core
        self.isRoot = isRoot
        self.usesCredentials = usesCredentials
        familyObjects = family
        boundPool = pool
        owner = core.makeOwner()
    }

    deinit {
        core.cancelAll(of: owner)
    }

    /// A client that shares everything with this one but owns the requests sent through it.
    ///
    /// Releasing it, or calling its ``cancelAll()``, ends these requests and no others. Each API manager takes one.
    public func scoped() -> NetworkClient {
        scope(usesCredentials: usesCredentials, family: familyObjects)
    }

    /// A client like ``scoped()`` whose requests go without the credentials of the options, for logins and their like.
    public func withoutCredentials() -> NetworkClient {
        scope(usesCredentials: false, family: familyObjects)
    }

    /// A scope for the library's own objects, which keeps nothing of what ``familyObjects`` keeps.
    package func detached() -> NetworkClient {
        scope(usesCredentials: usesCredentials, family: AssociatedObjects())
    }

    private func scope(usesCredentials: Bool, family: AssociatedObjects) -> NetworkClient {
        NetworkClient(
            core: core,
            isRoot: false,
            usesCredentials: usesCredentials,
            boundTo: boundPool,
            family: family
        )
    }
}

extension NetworkClient {
    /// What lives as long as the client with all its scopes.
    package var sharedObjects: AssociatedObjects { core.objects }

    /// The clock and the timers of the client, for interceptors and limits that measure or wait.
    public var time: any TimeSource { core.time }

    /// When a request that starts now ends whatever happens; `nil` without a deadline.
    package func deadline(of configuration: APIConfiguration) -> MonotonicTime? {
        let deadline = core.deadline(of: configuration, in: pool, startedAt: core.time.now)
        return deadline < .distantFuture ? deadline : nil
    }

    /// What a request that starts now is sent to.
    package var pool: ServerPool { boundPool ?? core.pool }

    /// Whether a call that the present task sends gets a credential: its own, or one of the options, which what belongs
    /// to their renewal goes without.
    package func authorizes(_ configuration: APIConfiguration) -> Bool {
        usesCredentials && (configuration.credential != nil || core.options.credentials?.isBypassed != true)
    }

    /// The fields that go with a call beside its own and may change from one call to the next: those that the app computes,
    /// and in place of the jar's cookies how often they have changed.
    package func varyingFields(of configuration: APIConfiguration) throws(RequestError) -> HTTPHeaders {
        let generator = pool.generator
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

extension NetworkClient {
    /// What is worth remembering of the servers of the environment in use, as when the app goes to the background.
    ///
    /// - Parameter date: The time of day by which the memory will be as old as it is; now unless given.
    /// - Returns: The memory, to be stored and given to ``recall(_:at:)`` in the next run.
    public func serverMemory(at date: Date = Date()) -> ServerMemory {
        let pool = core.pool
        return ServerMemory(
            service: pool.service,
            environment: pool.environment.rawValue,
            servers: pool.memory(wallClock: date.timeIntervalSince1970)
        )
    }

    /// Takes up what was remembered in an earlier run, best before the first request.
    ///
    /// Servers that were out of service at most ten minutes ago are out again, and probed with the next request. Of an older
    /// memory, or one from the future, only the preferred server counts, and that only for a policy that does not fail back
    /// by itself. Servers that the service has no more are passed over.
    ///
    /// - Parameters:
    ///   - memory: What ``serverMemory(at:)`` gave.
    ///   - date: The time of day; now unless given.
    /// - Returns: Whether it is of this service and of the environment in use; otherwise nothing has changed.
    @discardableResult
    public func recall(_ memory: ServerMemory, at date: Date = Date()) -> Bool {
        let pool = core.pool
        guard memory.service == pool.service, memory.environment == pool.environment.rawValue else {
            return false
        }
        let now = core.now
        let events = pool.change { core in
            core.restore(memory.servers, wallClock: date.timeIntervalSince1970, at: now)
        }
        core.publish(events, from: pool)
        return true
    }
}

// MARK: - Composing

extension NetworkClient {
    /// Creates a client with options that a closure sets.
    ///
    /// - Parameters:
    ///   - service: The service to talk to.
    ///   - environment: The environment to start in; the service's default when `nil`.
    ///   - transport: What carries the requests; the system's default when `nil`.
    ///   - time: The clock and the timers; the system's unless given.
    ///   - configure: Sets options; it is called once, before the client exists.
    /// - Throws: ``ClientError`` when the service lacks the environment, a base URL may not or cannot be asked, the retry
    ///   policy makes no sense, or the transport cannot be made.
    public convenience init(
        service: Service,
        environment: ServiceEnvironment? = nil,
        transport: (any Transport)? = nil,
        time: any TimeSource = SystemTime.shared,
        configure: (inout Options) -> Void
    ) throws(ClientError) {
        var options = Options()
        configure(&options)
        try self.init(service: service, environment: environment, transport: transport, options: options, time: time)
    }
}

// MARK: - Building

extension NetworkClient {
    /// Builds the request of a configuration for the server that it names, or that is preferred now, and sends nothing.
    ///
    /// The rules are applied and the modifiers have run. What ``Credentials`` or ``APIConfiguration/credential`` adds is
    /// missing, since it is got only when a request is sent. Server health does not notice.
    ///
    /// - Parameter configuration: What to ask.
    /// - Returns: The request, as an attempt would send it but for the credential.
    /// - Throws: ``/SwitchyardHTTP/RequestError`` when the configuration cannot be sent.
    public func request(for configuration: APIConfiguration) throws(RequestError) -> HTTPRequest {
        let pool = self.pool
        let configuration = (ruled(configuration) ?? configuration).snapshot()
        var base = core.base(for: configuration, in: pool)
        var home = base
        switch configuration.server {
        case .automatic:
            home = pool.currentBase(usesCDN: false)
            guard let url = RequestURL(configuration.path) else { break }
            base = pool.home(of: url)
            home = base
        case .named(let name): home = pool.base(of: name, usesCDN: false) ?? base
        case .baseURL: break
        }
        return try pool.generator.request(for: configuration, on: base, home: home)
    }

    /// Settings for groups of calls, picked by URL and method; those of ``Options/rules`` at first.
    ///
    /// What is set here counts from the next call on, for all scopes of the client; calls under way keep what they have.
    /// Nothing is kept between calls that would have to be invalidated.
    public var rules: ConfigurationRules {
        get { core.rules.withLock { $0 } }
        set { core.rules.withLock { $0 = newValue } }
    }

    /// The base URL below which a call would go now.
    package func base(for configuration: APIConfiguration) -> BaseURL {
        core.base(for: configuration, in: pool)
    }

    /// The configuration after the client's rules; `nil` when there are none, or they have been applied.
    package func ruled(_ configuration: APIConfiguration) -> APIConfiguration? {
        core.ruled(configuration, in: boundPool)
    }
}

extension ClientCore {
    /// The configuration after the rules; `nil` when there are none, or they have been applied.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - pool: The servers it goes to; those in use when `nil`.
    /// - Returns: The configuration.
    func ruled(_ configuration: APIConfiguration, in pool: ServerPool? = nil) -> APIConfiguration? {
        guard !configuration.isRuled else { return nil }
        guard let rules = rules.withLock({ $0.isEmpty ? nil : $0 }) else { return nil }
        let pool = pool ?? self.pool
        do throws(RequestError) {
            let base = base(for: configuration, in: pool)
            var result = try rules.applied(to: configuration, by: pool.generator, on: base)
            result.isRuled = true
            return result
        } catch {
            // The path cannot be joined; the same error ends the call when its request is built.
            return nil
        }
    }

    /// Where the call would go now.
    func base(for configuration: APIConfiguration, in pool: ServerPool) -> BaseURL {
        switch configuration.server {
        case .baseURL(let url): return BaseURL(url)
        case .named(let name): if let base = pool.base(of: name, usesCDN: configuration.usesCDN) { return base }
        case .automatic: break
        }
        if let url = configuration.rare?.value.prebuiltRequest?.url, let base = pool.base(of: url) { return base }
        return pool.currentBase(usesCDN: configuration.usesCDN)
    }
}
