import SwitchyardHTTP
public import SwitchyardServices

extension NetworkClient {
    /// What holds for all requests of a client.
    public struct Options: Sendable {
        /// Common headers and parameters, deadlines, limits, and the rules for building requests.
        ///
        /// The total of its timeouts is the deadline of a whole request: every attempt, every wait and every hedge. An
        /// ``APIConfiguration`` can override it.
        public var generator: RequestGenerator
        /// Changes the generator for one environment: keys, API version, common headers; nothing unless set.
        ///
        /// Asked each time the client enters an environment. The cookies of a generator's jar are kept apart by
        /// environment without it.
        public var perEnvironment: (@Sendable (inout RequestGenerator, ServiceEnvironment) -> Void)?
        /// Settings for groups of calls, picked by URL and method; none unless set.
        ///
        /// See ``NetworkClient/rules``.
        public var rules = ConfigurationRules()
        /// The path that is asked with GET when a server has to be probed; that of the request at hand unless set.
        ///
        /// It stands below the server's base URL. Any answer below 500 is a good one. A read of the app is copied as it
        /// is, unless this is set; a write never is: of it only the path is taken. Of a read that must not be repeated
        /// (``APIConfiguration/mayBeRepeated``) not even that is: the base URL itself is asked.
        public var probePath: String?
        /// How long a probe may take at least; 1 second unless set.
        ///
        /// Where answers usually take longer than half of it, a probe may take twice as long as they do (twice their 95th
        /// percentile), a minute at most: else a server that works would never be found to.
        public var probeTimeout: Duration
        /// The seed of the random numbers (jitter, shares); drawn by the system unless set.
        public var seed: UInt64
        /// A number that is this installation's own and stays the same; `nil`, the list's order, unless set.
        ///
        /// With it the servers behind the first are shuffled, for each installation in its own way, so that not all
        /// clients of a fleet move to the same server when the first one fails.
        public var installation: UInt64?

        /// What takes part in every request's flow, in order; nothing unless set.
        public var interceptors: [RequestInterceptor] = []
        /// What every round of a request passes first, in order; nothing unless set.
        public var limits: [any RequestLimit] = []
        /// Whether and when a request is sent again that no server answered as it should; never unless set.
        public var retry: RetryPolicy?
        /// Who the app is to the service, and how that is renewed; nobody unless set.
        public var credentials: Credentials?
        /// Names the user who is logged in in an environment, nobody where it gives `nil`; the client knows of no users
        /// unless set.
        ///
        /// What is kept on the disk to be sent waits for its user then: a write in an `Outbox`, and an upload that was
        /// cut (`UploadResumption.directory`). The name has to be the same after a renewal, another login and a
        /// relaunch: the number of an account, not a token. An outbox keeps it as it is. Answers are stored under it too,
        /// unless a manager names another by its `cacheUser`; they stay at a log-out until a manager's `removeAnswers()` or
        /// their lifetime removes them, and nobody else is shown them.
        ///
        /// It is asked often, on any thread, so it should be quick. Change it while there is no credential, behind
        /// ``Credentials/logOut(in:)`` and before ``Credentials/set(_:in:)``: then nothing goes in one's name with the
        /// credential of another.
        public var user: (@Sendable (ServiceEnvironment) -> String?)?
        /// What becomes of redirects; followed unless set, 20 at most.
        public var redirects = RedirectPolicy.follow

        /// Where requests may go unencrypted; to this machine and its neighbours unless set.
        ///
        /// A service with a base URL that breaks the rule makes no client; a call or a redirect that does is refused.
        public var insecureHTTP = InsecureHTTPRule.local

        /// Creates options; every one has a default.
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

        /// The generator of one environment.
        func generator(for environment: ServiceEnvironment) -> RequestGenerator {
            var generator = generator
            generator.cookies = generator.cookies?.scoped(to: environment.rawValue)
            perEnvironment?(&generator, environment)
            return generator
        }

        /// The servers of a service in an environment, all of them healthy.
        func pool(
            of service: Service,
            in environment: ServiceEnvironment,
            at now: MonotonicTime
        ) throws(ClientError) -> ServerPool {
            try ServerPool(
                service: service,
                environment: environment,
                generator: generator(for: environment),
                rule: insecureHTTP,
                seed: seed,
                installation: installation,
                now: now
            )
        }

        /// Whether calls are bound to whoever is logged in.
        var hasLogins: Bool { credentials != nil || user != nil }

        /// Whether anything surrounds every request.
        var surroundsRequests: Bool {
            !limits.isEmpty || !interceptors.isEmpty || retry != nil || hasLogins
        }
    }
}
