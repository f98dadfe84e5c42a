public import SwitchyardHTTP
public import SwitchyardServices
public import SwitchyardTransport

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
    /// - Throws: ``RequestError`` when the configuration cannot be sent.
    public func request(for configuration: APIConfiguration) throws(RequestError) -> HTTPRequest {
        let pool = target.pool
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
        core.base(for: configuration, in: target.pool)
    }

    /// The configuration after the client's rules; `nil` when there are none, or they have been applied.
    package func ruled(_ configuration: APIConfiguration) -> APIConfiguration? {
        core.ruled(configuration, in: boundTarget?.pool)
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
