/// The interceptors, limits and policies of one request: first the client's, then the call's.
struct FlowPlan: Sendable {
    /// A closure of an interceptor, with the interceptor's name for error messages.
    struct Named<Part: Sendable>: Sendable {
        let name: String
        let part: Part
    }

    private(set) var limits: [any RequestLimit]
    let adapters: [Named<RequestInterceptor.Adapt>]
    let observers: [any CallObserver]
    /// The closures that may replace the transport of an attempt.
    let detours: [ClientObserver.Detour]
    let retriers: [Named<RequestInterceptor.Retry>]
    let retry: RetryPolicy?
    /// The client's credentials, which can be refreshed.
    let credentials: Credentials?
    /// The call's own credential, which cannot be refreshed.
    let credential: Credential?

    /// Whether interceptors adapt the request each time it is sent, or decide whether it is retried.
    ///
    /// Such interceptors may send requests of their own.
    var hasParts: Bool { !adapters.isEmpty || !retriers.isEmpty }

    /// Creates the flow plan of a request, or returns `nil` if a ``Failover`` alone is enough.
    ///
    /// A ``Failover`` is enough if there are no limits, interceptors, credentials, retries or observers, and no owner
    /// (user and environment) that is bound to a login.
    init?(
        _ configuration: APIConfiguration,
        in core: ClientCore,
        usesCredentials: Bool,
        _ observers: [ClientObserver]?
    ) {
        let (options, clientObservers) = (core.options, observers ?? [])
        limits = options.limits + configuration.limits
        let interceptors = options.interceptors + configuration.interceptors
        adapters = interceptors.compactMap { one in one.adapt.map { Named(name: one.name, part: $0) } }
        self.observers = interceptors.compactMap(\.observer) + clientObservers.map(\.observer)
        detours = clientObservers.compactMap(\.detour)
        retriers = interceptors.compactMap { one in one.retry.map { Named(name: one.name, part: $0) } }
        let policy = configuration.retry ?? options.retry
        retry = policy.flatMap { $0.maximumRetries == 0 ? nil : $0 }
        credential = configuration.credential
        let usesShared = usesCredentials && configuration.usesCredentials && credential == nil
        let shared = usesShared ? options.credentials : nil
        credentials = shared.flatMap { $0.isBypassed ? nil : $0 }
        let isEmpty =
            limits.isEmpty && interceptors.isEmpty && retry == nil && credentials == nil && credential == nil
            && !configuration.isBoundToLogin && clientObservers.isEmpty
        if isEmpty { return nil }
    }
}

extension FlowPlan {
    /// The flow plan for a part of a transfer, without any ``PacingLimit``.
    ///
    /// The transfer as a whole has already passed these limits, and one part must not supersede another part.
    var ofPart: FlowPlan {
        var plan = self
        plan.limits.removeAll { $0 is any PacingLimit }
        return plan
    }

    /// The flow plan for a request that continues a transfer, without the limits that space requests in time.
    ///
    /// The transfer has already passed these limits.
    var ofContinuation: FlowPlan {
        var plan = self
        plan.limits.removeAll { ($0 as? any PacingLimit)?.spacesRequests == true }
        return plan
    }
}
