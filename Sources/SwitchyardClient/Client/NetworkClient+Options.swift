import SwitchyardHTTP
public import SwitchyardServices

extension NetworkClient {
    /// The settings that apply to all requests of a client.
    public struct Options: Sendable {
        /// The builder of requests, with their common headers and parameters, timeouts and size limits.
        ///
        /// The total timeout of the generator is the deadline of a whole request, including all attempts, pauses and
        /// hedges (a second attempt while the first is slow). An ``APIConfiguration`` can override this deadline.
        public var generator: RequestGenerator
        /// A closure that changes the generator for one environment, for instance its API key, version or headers.
        ///
        /// By default, there is no closure.
        ///
        /// The client calls the closure each time it enters an environment. Cookies are separated by environment even
        /// without the closure.
        public var perEnvironment: (@Sendable (inout RequestGenerator, ServiceEnvironment) -> Void)?
        /// The settings for groups of calls, matched by URL and method, by default none.
        ///
        /// See ``NetworkClient/rules``.
        public var rules = ConfigurationRules()
        /// The path that probes request with GET, relative to the server's base URL, by default `nil`.
        ///
        /// A probe tests whether a failed server has recovered. Every response with a status below 500 counts as
        /// success. If the path is `nil`, a probe is derived from the request that the app is sending. In place of a
        /// read request, a probe sends the same request. In place of a write request, a probe reads the same path. In
        /// place of a read request that must not be repeated (``APIConfiguration/mayBeRepeated``), a probe reads the
        /// base URL.
        public var probePath: String?
        /// The minimum timeout of a probe, by default 1 second.
        ///
        /// If responses usually take longer than half of this timeout, a probe may take twice their 90th percentile,
        /// but at most one minute. Otherwise a slow server that works would never pass a probe.
        public var probeTimeout: Duration
        /// The seed of the random numbers for jitter and traffic shares, by default a random number of the system.
        public var seed: UInt64
        /// A stable number that identifies this installation, by default `nil`.
        ///
        /// If set, the servers after the first are tried in an order that depends on this number. Not all clients then
        /// move to the same server when the first server fails. If `nil`, the order of the list applies.
        public var installation: UInt64?
        /// The zone whose servers come first, by default `nil`.
        ///
        /// The zone must be the ``/SwitchyardServices/Server/zone`` of a server. See ``NetworkClient/preferZone(_:)``.
        public var preferredZone: String?

        /// The interceptors that take part in every request, in order, by default none.
        public var interceptors: [RequestInterceptor] = []
        /// The limits that a request has to pass before it is first sent and before each retry, in order, by default
        /// none.
        ///
        /// Failovers and hedges do not have to pass the limits again.
        public var limits: [any RequestLimit] = []
        /// The policy for retrying requests that no server could complete.
        ///
        /// If `nil`, the default, requests are not retried.
        public var retry: RetryPolicy?
        /// The credentials that are added to requests and refreshed automatically, by default none.
        public var credentials: Credentials?
        /// A closure that returns the name of the user who is logged in to an environment, or `nil` if no user is
        /// logged in.
        ///
        /// If the closure is `nil`, the default, the client does not distinguish users. With a closure, stored work
        /// waits until its user is logged in again: write requests in an `Outbox`, and interrupted uploads
        /// (`UploadResumption.directory`). The name must be the same after a token refresh, another login and a
        /// relaunch. Use an account number, not a token. An outbox stores the name unchanged. Responses are stored
        /// under the name too, unless an API manager sets another name with its `cacheUser`. At a logout, these
        /// responses stay until the manager's `removeResponses()` or their lifetime removes them. No other user can
        /// read them.
        ///
        /// The closure is called often, on any thread, so it should be quick. Change the name while there is no
        /// credential, after ``Credentials/logOut(in:)`` and before ``Credentials/set(_:in:)``. Otherwise a call could
        /// carry one user's name and another user's credential.
        public var user: (@Sendable (ServiceEnvironment) -> String?)?
        /// The policy for redirects.
        ///
        /// By default the client follows at most 20 redirects per attempt.
        public var redirects = RedirectPolicy.follow

        /// The hosts to which requests may be sent unencrypted, by default this machine and the local network.
        ///
        /// Creating a client fails if a base URL of the service breaks the rule. A call or a redirect that breaks the
        /// rule is refused.
        public var insecureHTTP = InsecureHTTPRule.local

        /// Creates options.
        ///
        /// Every parameter has a default value.
        public init(
            generator: RequestGenerator = RequestGenerator(),
            probePath: String? = nil,
            probeTimeout: Duration = .seconds(1),
            seed: UInt64 = .random(in: .min ... .max),
            installation: UInt64? = nil
        ) {
            self.generator = generator
            self.probePath = probePath
            self.probeTimeout = probeTimeout
            self.seed = seed
            self.installation = installation
        }

        /// Returns the generator for an environment.
        func generator(for environment: ServiceEnvironment) -> RequestGenerator {
            var generator = generator
            generator.cookies = generator.cookies?.scoped(to: environment.rawValue)
            perEnvironment?(&generator, environment)
            return generator
        }

        /// Returns the servers of a service in an environment, all of them healthy.
        func pool(
            of service: Service,
            in environment: ServiceEnvironment,
            preferring zone: String?,
            at now: MonotonicTime
        ) throws(ClientError) -> ServerPool {
            let pool = try ServerPool(
                service: service,
                environment: environment,
                generator: generator(for: environment),
                rule: insecureHTTP,
                seed: seed,
                installation: installation,
                now: now
            )
            if zone != nil { _ = pool.change { $0.prefer(zone: zone, at: now) } }
            return pool
        }

        /// Whether calls are bound to the user who is logged in.
        var hasLogins: Bool { credentials != nil || user != nil }

        /// Whether these options require a ``RequestFlow`` around every failover, because they have limits,
        /// interceptors, retries, or users.
        ///
        /// ``FlowPlan`` decides whether the call itself requires one.
        var surroundsRequests: Bool {
            !limits.isEmpty || !interceptors.isEmpty || retry != nil || hasLogins
        }
    }
}
