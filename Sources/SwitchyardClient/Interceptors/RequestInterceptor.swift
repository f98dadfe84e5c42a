import Foundation

/// A participant in every request: it can adapt the request, observe it, and decide whether to retry it.
///
/// An interceptor is a value, and the closures that it leaves `nil` have no cost. The client's interceptors come first,
/// in their order, then those of the ``APIConfiguration``.
///
/// ### Use
///
///     options.interceptors = [
///         .adapting("trace") { configuration, _ in configuration.headers["X-Trace"] = Trace.current },
///         .observing("count") { event in if case .ended = event.kind { meter.count() } },
///         .retrying("too early") { round in round.status == 425 ? .retry(after: .seconds(1)) : .undecided },
///     ]
///
/// ### Customize
/// If a type of your own does more than one of these tasks, give it a property that returns an interceptor made with
/// ``init(_:adapt:observe:retry:)``. Let the closures call the methods of your type.
///
/// No interceptor can block a request forever, because the request ends at its deadline or when it is cancelled, even
/// if an interceptor is still running. An interceptor may send requests of its own, which are treated like any other
/// request.
public struct RequestInterceptor: Sendable {
    /// A closure that changes the configuration of a round, or throws to prevent the round.
    ///
    /// The closure receives the call's original configuration with the changes of the interceptors before this one. Its
    /// changes last for one round. Deadline, interceptors and retry policy are fixed at dispatch and cannot be changed.
    public typealias Adapt = @Sendable (inout APIConfiguration, DispatchContext) async throws -> Void
    /// A closure that is called for each event and cannot change anything.
    ///
    /// The closure is called on a queue of the client, in the order of the events. A slow observer does not delay
    /// requests.
    public typealias Observe = @Sendable (DispatchEvent) -> Void
    /// A closure that decides after each round whether another round follows.
    ///
    /// If it throws, the request ends with the error.
    public typealias Retry = @Sendable (RoundResult) async throws -> RetryDecision

    /// The name of the interceptor, which appears in error messages.
    public var name: String
    /// The closure that changes the configuration of a round, `nil` by default.
    public var adapt: Adapt?
    /// The closure that is called for each event, `nil` by default.
    public var observe: Observe?
    /// The closure that decides after a round has ended, `nil` by default.
    public var retry: Retry?

    /// Creates an interceptor from closures.
    ///
    /// - Parameters:
    ///   - name: The name of the interceptor, which appears in error messages.
    ///   - adapt: Changes the configuration of a round.
    ///   - observe: Called for each event.
    ///   - retry: Decides after a round has ended.
    public init(
        _ name: String = "interceptor",
        adapt: Adapt? = nil,
        observe: Observe? = nil,
        retry: Retry? = nil
    ) {
        self.name = name
        self.adapt = adapt
        self.observe = observe
        self.retry = retry
    }

    /// Returns an interceptor that only changes or prevents requests.
    public static func adapting(_ name: String = "interceptor", _ adapt: @escaping Adapt) -> RequestInterceptor {
        RequestInterceptor(name, adapt: adapt)
    }

    /// Returns an interceptor that only observes.
    public static func observing(_ name: String = "interceptor", _ observe: @escaping Observe) -> RequestInterceptor {
        RequestInterceptor(name, observe: observe)
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

    /// The limits that every round of this call passes after the client's limits, by default none.
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
