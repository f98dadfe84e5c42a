import Foundation

/// A participant in every request: it can adapt the request, observe it, and decide whether to retry it.
///
/// An interceptor is a value, and closures that are `nil` have no cost. The client's interceptors come first, in their
/// order, and then the interceptors of the ``APIConfiguration``.
///
/// ### Use
///
///     options.interceptors = [
///         .adapting("trace") { configuration, _ in configuration.headers["X-Trace"] = Trace.current },
///         .observing(CallCounter()),
///         .retrying("too early") { round in round.status == 425 ? .retry(after: .seconds(1)) : .undecided },
///     ]
///
/// ### Customize
/// If a type of your own does more than one of these tasks, give it a property that returns an interceptor made with
/// ``init(_:adapt:observer:retry:)``. Let the closures call the methods of your type.
///
/// No interceptor can block a request forever, because the request ends at its deadline or when it is cancelled, even
/// if an interceptor is still running. An interceptor may send requests of its own, which are treated like any other
/// request.
public struct RequestInterceptor: Sendable {
    /// A closure that changes the configuration before the request is first sent and before each retry, or throws an
    /// error to end the request.
    ///
    /// The closure receives the call's original configuration with the changes of the interceptors before this
    /// interceptor. The changes last until the request is sent again: failovers and hedges keep them, a retry does not.
    /// Deadline, interceptors and retry policy are fixed at dispatch and cannot be changed.
    public typealias Adapt = @Sendable (inout APIConfiguration, DispatchContext) async throws -> Void
    /// A closure that decides after the request has been tried whether it is retried.
    ///
    /// It is not called between failovers. If it throws, the request ends with the error.
    public typealias Retry = @Sendable (RoundResult) async throws -> RetryDecision

    /// The name of the interceptor, which appears in error messages.
    public var name: String
    /// The closure that changes the configuration before the request is sent, `nil` by default.
    public var adapt: Adapt?
    /// The observer of the calls, `nil` by default.
    public var observer: (any CallObserver)?
    /// The closure that decides whether the request is retried, `nil` by default.
    public var retry: Retry?

    /// Creates an interceptor from its parts.
    ///
    /// - Parameters:
    ///   - name: The name of the interceptor, which appears in error messages.
    ///   - adapt: Changes the configuration before the request is first sent and before each retry.
    ///   - observer: Observes the calls.
    ///   - retry: Decides whether the request is retried.
    public init(
        _ name: String = "interceptor",
        adapt: Adapt? = nil,
        observer: (any CallObserver)? = nil,
        retry: Retry? = nil
    ) {
        self.name = name
        self.adapt = adapt
        self.observer = observer
        self.retry = retry
    }

    /// Returns an interceptor that only changes or prevents requests.
    public static func adapting(_ name: String = "interceptor", _ adapt: @escaping Adapt) -> RequestInterceptor {
        RequestInterceptor(name, adapt: adapt)
    }

    /// Returns an interceptor that only observes.
    public static func observing(_ observer: some CallObserver) -> RequestInterceptor {
        RequestInterceptor("\(type(of: observer))", observer: observer)
    }

    /// Returns an interceptor that only observes, with a closure that is called for each event.
    public static func observing(
        _ name: String = "interceptor",
        _ observe: @escaping @Sendable (DispatchEvent) -> Void
    ) -> RequestInterceptor {
        RequestInterceptor(name, observer: ClosureObserver(closure: observe))
    }

    /// Returns an interceptor that only decides on retries.
    public static func retrying(_ name: String = "interceptor", _ retry: @escaping Retry) -> RequestInterceptor {
        RequestInterceptor(name, retry: retry)
    }
}

/// The interceptors, limits and retry policy of one call.
extension APIConfiguration {
    private enum InterceptorsSetting: ConfigurationSetting {
        static var defaultValue: [RequestInterceptor] { [] }
    }

    private enum LimitsSetting: ConfigurationSetting {
        static var defaultValue: [any RequestLimit] { [] }
    }

    private enum RetrySetting: ConfigurationSetting {
        static var defaultValue: RetryPolicy? { nil }
    }

    /// The interceptors of this call, by default none.
    ///
    /// These interceptors come after the client's interceptors.
    public var interceptors: [RequestInterceptor] {
        get { self[setting: InterceptorsSetting.self] }
        set { self[setting: InterceptorsSetting.self] = newValue }
    }

    /// The limits that this call passes after the client's limits, before it is first sent and before each retry, by
    /// default none.
    ///
    /// All calls that have the same limit object count against the limit together.
    public var limits: [any RequestLimit] {
        get { self[setting: LimitsSetting.self] }
        set { self[setting: LimitsSetting.self] = newValue }
    }

    /// The retry policy of the call.
    ///
    /// If `nil` (the default), the client's policy applies.
    public var retry: RetryPolicy? {
        get { self[setting: RetrySetting.self] }
        set { self[setting: RetrySetting.self] = newValue }
    }
}
