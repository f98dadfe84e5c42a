public import Foundation
public import SwitchyardHTTP
public import SwitchyardServices
public import SwitchyardTransport

/// Sends the requests of one service: chooses the server, sends a failed request to another server if that is safe, and
/// ends each request exactly once.
///
/// A client is made from a ``/SwitchyardServices/Service`` and handed to the API managers that use it. Any thread may
/// call the client. There is no shared client, so an app creates its own.
///
/// ### Lifetime
/// Releasing a client cancels the requests that were sent through it with the completion form. The async form keeps the
/// client alive until the response has arrived. An API manager that holds a ``scoped()`` client therefore cancels its
/// own requests when the manager is released. When a client and all clients that were made from it have been released,
/// a transport that the library created is shut down. A transport that the app passed in is left running.
public final class NetworkClient: Sendable {
    package let core: ClientCore
    let owner: OwnerID
    private let isRoot: Bool
    package let usesCredentials: Bool
    /// The servers to which this handle sends all requests, even if the app switches to another environment.
    ///
    /// If `nil`, requests use the servers of the current environment.
    let boundPool: ServerPool?
    /// Objects of modules that build on the client, which are released together with this handle.
    package let objects = AssociatedObjects()
    /// Objects of modules that build on the client, which are released when the app has released the client and all
    /// handles made by ``scoped()``.
    ///
    /// The core does not retain these objects, so they may retain an object that retains a ``detached()`` handle.
    package let familyObjects: AssociatedObjects

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - service: The service to send requests to.
    ///   - environment: The first environment. If `nil`, the service's default environment applies.
    ///   - transport: The transport that carries the requests. If `nil`, the system's default transport is used.
    ///   - options: The deadlines, the limits, and the settings common to all requests.
    ///   - time: The clock and the timers, by default the system's.
    /// - Throws: ``ClientError`` if the service lacks the environment, if a base URL is invalid or forbidden, if the
    ///   retry policy is invalid, or if the transport cannot be created.
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

    /// Returns a client that shares everything with this client but owns the requests sent through it.
    ///
    /// Releasing the scoped client, or calling its ``cancelAll()``, ends these requests and no others. Each API manager
    /// uses a scoped client of its own.
    public func scoped() -> NetworkClient {
        scope(usesCredentials: usesCredentials, family: familyObjects)
    }

    /// Returns a client like ``scoped()`` whose requests omit ``Options/credentials``, for logins and similar calls.
    public func withoutCredentials() -> NetworkClient {
        scope(usesCredentials: false, family: familyObjects)
    }

    /// Returns a handle like ``scoped()`` for the library's own objects.
    ///
    /// The handle does not retain the ``familyObjects``.
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
    /// Objects of modules above the client that are released with the last handle of the client.
    package var sharedObjects: AssociatedObjects { core.objects }

    /// The clock and the timers of the client, for interceptors and limits that measure time or wait.
    public var time: any TimeSource { core.time }

    /// Returns the deadline of a request that starts now, or `nil` if the request has no deadline.
    package func deadline(of configuration: APIConfiguration) -> MonotonicTime? {
        let deadline = core.deadline(of: configuration, in: pool, startedAt: core.time.now)
        return deadline < .distantFuture ? deadline : nil
    }

    /// The servers that a request is sent to if it starts now.
    package var pool: ServerPool { boundPool ?? core.pool }

    /// Returns whether a call that the current task sends carries a credential of its own or ``Options/credentials``.
    ///
    /// A request that a credential refresh itself sends does not carry ``Options/credentials``.
    package func authorizes(_ configuration: APIConfiguration) -> Bool {
        usesCredentials && (configuration.credential != nil || core.options.credentials?.isBypassed != true)
    }

    /// Returns the header fields that the client adds to a call and that may change between calls.
    ///
    /// These are the fields that the app computes (``RequestGenerator/computedHeaders``). In place of the stored
    /// cookies, a `Cookie` field contains the number of times that the cookie jar has changed.
    package func varyingFields(of configuration: APIConfiguration) throws(RequestError) -> HTTPHeaders {
        let generator = pool.generator
        var fields = HTTPHeaders()
        for field in try generator.common.computedFields(configuration).fields
        where configuration.headers[field.name] == nil {
            fields.add(field.name, field.value)
        }
        if configuration.usesCookies, let changes = generator.cookies?.changes {
            fields.add("Cookie", "\(changes)")
        }
        return fields
    }
}

// MARK: - Cancellation

extension NetworkClient {
    /// Cancels one request, or does nothing if no request with this identifier is active.
    public func cancel(_ id: RequestID) {
        core.cancel(CollectionOfOne(id))
    }

    /// Cancels several requests.
    public func cancel(_ ids: some Sequence<RequestID>) {
        core.cancel(ids)
    }

    /// Cancels all requests sent through this client.
    ///
    /// If this client was not made by ``scoped()``, the requests of all handles made from it are cancelled too.
    ///
    /// Requests that a refresh of the ``Options/credentials`` sends continue, and ``activeRequests`` does not list
    /// them. The server may already have used up the refresh token, so cancelling would lose the response and with it
    /// the login. ``shutdown()`` ends these requests too.
    public func cancelAll() {
        core.cancelAll(of: scope)
    }

    /// The active requests that ``cancelAll()`` would cancel, oldest first.
    public var activeRequests: [RequestID] {
        Set(active.map(\.id)).union(core.transfers.ids(of: scope)).sorted()
    }

    /// The identifier of the handle whose requests this handle lists and cancels.
    ///
    /// It is this handle's own identifier if the handle was made by ``scoped()``. Otherwise it is `nil`, which means
    /// the requests of all handles.
    var scope: OwnerID? { isRoot ? nil : owner }

    /// The active requests that this handle lists and cancels.
    var active: [any DispatchedRequest] {
        core.ordinaryRequests(of: scope).filter { $0.owner != ClientCore.ownerOfShared }
    }

    /// Shuts the client down: active requests and all later requests end with ``RequestFailure/Reason/closed``.
    ///
    /// The shutdown affects all handles of the client and shuts the transport down. Calling this method again has no
    /// effect.
    public func shutdown() {
        core.shutdown()
    }
}

extension NetworkClient {
    /// Returns the health of the servers in the current environment, so that the app can store it, for instance when
    /// the app enters the background.
    ///
    /// - Parameter date: The current date and time. The age of the stored health is counted from this time.
    /// - Returns: The health of the servers. Store it and pass it to ``restoreHealth(_:at:)`` at the next launch.
    public func serverMemory(at date: Date = Date()) -> ServerMemory {
        let pool = core.pool
        return ServerMemory(
            service: pool.service,
            environment: pool.environment.rawValue,
            servers: pool.memory(wallClock: date.timeIntervalSince1970),
            origins: pool.origins
        )
    }

    /// Restores the server health that an earlier launch stored, ideally before the first request.
    ///
    /// If the health was stored at most ten minutes ago, its ejected servers (taken out of use for a time) are ejected
    /// again, and the next request triggers a probe, which tests whether the server has recovered. If the health is
    /// older or is dated in the future, no server is ejected. The preferred server is restored whatever the age, but
    /// only under a policy that does not fail back by itself. Servers that the service no longer has are ignored. A
    /// server that has another scheme, host or port now starts healthy.
    ///
    /// - Parameters:
    ///   - memory: The value that ``serverMemory(at:)`` returned.
    ///   - date: The current date and time.
    /// - Returns: Whether the stored health belongs to this service and to the current environment. If `false`, nothing
    ///   has changed.
    @discardableResult
    public func restoreHealth(_ memory: ServerMemory, at date: Date = Date()) -> Bool {
        let pool = core.pool
        guard memory.service == pool.service, memory.environment == pool.environment.rawValue else {
            return false
        }
        let now = core.now
        var servers = memory.servers
        if let known = memory.origins {
            let origins = pool.origins
            servers.ejected.removeAll { known[$0] != origins[$0] }
        }
        let events = pool.change { [servers] core in
            core.restore(servers, wallClock: date.timeIntervalSince1970, at: now)
        }
        core.publish(events, from: pool)
        return true
    }
}

// MARK: - Composition

extension NetworkClient {
    /// Creates a client with options that a closure sets.
    ///
    /// - Parameters:
    ///   - service: The service to send requests to.
    ///   - environment: The first environment. If `nil`, the service's default environment applies.
    ///   - transport: The transport that carries the requests. If `nil`, the system's default transport is used.
    ///   - time: The clock and the timers, by default the system's.
    ///   - configure: A closure that sets options. It is called once, before the client exists.
    /// - Throws: ``ClientError`` if the service lacks the environment, if a base URL is invalid or forbidden, if the
    ///   retry policy is invalid, or if the transport cannot be created.
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

// MARK: - Building requests

extension NetworkClient {
    /// Builds the request of a configuration without sending it.
    ///
    /// The request is built for the server that the configuration names, or else for the preferred server. The client's
    /// rules and modifiers are applied. The request lacks the credential of ``Credentials`` or
    /// ``APIConfiguration/credential``, because a credential is obtained only when a request is sent. Building a
    /// request does not affect server health.
    ///
    /// - Parameter configuration: The configuration of the call.
    /// - Returns: The request as an attempt would send it, without the credential.
    /// - Throws: ``/SwitchyardHTTP/RequestError`` if the configuration cannot be sent, or if no server serves the call.
    public func request(for configuration: APIConfiguration) throws(RequestError) -> HTTPRequest {
        let pool = self.pool
        let configuration = (ruled(configuration) ?? configuration).snapshot()
        var base = core.base(for: configuration, in: pool)
        var home = base
        var role: ServerRole?
        switch configuration.server {
        case .automatic:
            let place = pool.currentPlace(for: configuration, usesCDN: false)
            (home, role) = (place.base, place.role)
            guard let url = RequestURL(configuration.path) else { break }
            base = pool.home(of: url)
            home = base
        case .named(let name):
            home = pool.base(of: name, usesCDN: false) ?? base
            role = pool.role(of: name)
        case .baseURL: break
        }
        let request = try pool.generator.request(for: configuration, on: base, home: home, as: role)
        if let server = pool.refusal(of: request)?.servers.first {
            throw .url(text: request.url.text, reason: .unserved(server: server))
        }
        return request
    }

    /// The settings that apply to calls by URL and method, initially ``Options/rules``.
    ///
    /// A change applies to all later calls through any handle of the client. Active calls keep their settings. Nothing
    /// is cached between calls, so a change invalidates nothing.
    public var rules: ConfigurationRules {
        get { core.rules.withLock { $0 } }
        set { core.rules.withLock { $0 = newValue } }
    }

    /// Returns the base URL that a call would use if it were sent now.
    package func base(for configuration: APIConfiguration) -> BaseURL {
        core.base(for: configuration, in: pool)
    }

    /// Returns the configuration with the client's rules applied, or `nil` if there are no rules.
    ///
    /// The rules must be applied only once per call, to the configuration that the app wrote.
    package func ruled(_ configuration: APIConfiguration) -> APIConfiguration? {
        core.hasRules ? core.ruled(configuration, in: boundPool) : nil
    }
}

extension ClientCore {
    /// Whether any rule applies to calls by URL and method.
    var hasRules: Bool { rules.withLock { !$0.isEmpty } }

    /// Returns the configuration with the rules applied, or `nil` if there are no rules.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - pool: The servers that the call goes to. If `nil`, the servers of the current environment apply.
    /// - Returns: The configuration with the rules applied.
    func ruled(_ configuration: APIConfiguration, in pool: ServerPool? = nil) -> APIConfiguration? {
        guard let rules = rules.withLock({ $0.isEmpty ? nil : $0 }) else { return nil }
        let pool = pool ?? self.pool
        do throws(RequestError) {
            let base = base(for: configuration, in: pool)
            return try rules.applied(to: configuration, by: pool.generator, on: base)
        } catch {
            // A path that cannot be joined to the base URL fails later with the same error, when the request is built.
            return nil
        }
    }

    /// Returns the base URL that the call would use if it were sent now.
    func base(for configuration: APIConfiguration, in pool: ServerPool) -> BaseURL {
        switch configuration.server {
        case .baseURL(let url): return BaseURL(url)
        case .named(let name): if let base = pool.base(of: name, usesCDN: configuration.usesCDN) { return base }
        case .automatic: break
        }
        if let url = configuration.rare?.value.prebuiltRequest?.url, let base = pool.base(of: url) { return base }
        return pool.currentPlace(for: configuration, usesCDN: configuration.usesCDN).base
    }
}
