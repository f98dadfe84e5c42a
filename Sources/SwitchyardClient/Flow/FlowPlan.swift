/// The interceptors, limits and policies of one request: the client's first, then the configuration's.
struct FlowPlan: Sendable {
    /// A part of an interceptor, with the interceptor's name for error messages.
    struct Named<Part: Sendable>: Sendable {
        let name: String
        let part: Part
    }

    private(set) var limits: [any RequestLimit]
    let adapters: [Named<RequestInterceptor.Adapt>]
    let observers: [RequestInterceptor.Observe]
    /// The carriers that may replace the transport for an attempt.
    let detours: [ClientObserver.Detour]
    let retriers: [Named<RequestInterceptor.Retry>]
    let retry: RetryPolicy?
    /// The client's credentials, which can be refreshed.
    let credentials: Credentials?
    /// The call's own credential, which cannot be refreshed.
    let credential: Credential?

    /// Whether interceptors take part in the rounds; they may send requests of their own.
    var hasParts: Bool { !adapters.isEmpty || !retriers.isEmpty }

    /// Creates a plan from its parts; `nil` if there are none.
    init?(
        _ options: NetworkClient.Options,
        _ configuration: APIConfiguration,
        usesCredentials: Bool,
        _ clientObservers: [ClientObserver]
    ) {
        limits = options.limits + configuration.limits
        let interceptors = options.interceptors + configuration.interceptors
        adapters = interceptors.compactMap { one in one.adapt.map { Named(name: one.name, part: $0) } }
        observers = interceptors.compactMap(\.observe) + clientObservers.map(\.observe)
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
            && configuration.callOwner?.isBound != true && clientObservers.isEmpty
        if isEmpty { return nil }
    }
}

extension FlowPlan {
    /// The plan of a part of a transfer: parts do not displace each other, and the transfer has passed the pacing
    /// limits.
    var ofPart: FlowPlan {
        var plan = self
        plan.limits.removeAll { $0 is any PacingLimit }
        return plan
    }

    /// The plan of a request that continues a transfer, which a throttle has admitted already.
    var ofContinuation: FlowPlan {
        var plan = self
        plan.limits.removeAll { ($0 as? any PacingLimit)?.spacesRequests == true }
        return plan
    }
}
