import Foundation

/// An interceptor, which takes part in a request in up to three ways: it adapts the request, observes it, or decides on
/// a retry.
///
/// An interceptor is a value, and the parts that it leaves `nil` have no cost. The client's interceptors come first, in
/// their order, then those of the ``APIConfiguration``.
///
/// ### Use
///
///     options.interceptors = [
///         .adapting("trace") { configuration, _ in configuration.headers["X-Trace"] = Trace.current },
///         .observing("count") { event in if case .ended = event.kind { meter.count() } },
///         .retrying("too early") { round in round.status == 425 ? .retry(after: .seconds(1)) : .undecided },
///     ]
///
/// ### Customise
/// If a type of your own does several of the three, let it return one value made with ``init(_:adapt:observe:retry:)``,
/// whose closures call its methods.
///
/// No interceptor can block a request forever, because the request's deadline and cancellation end it whatever an
/// interceptor does. An interceptor may send requests of its own, which are treated like any other.
public struct RequestInterceptor: Sendable {
    /// Changes the configuration of a round, or refuses to send it by throwing.
    ///
    /// The closure receives the configuration as it was dispatched, with the changes of the interceptors before it.
    /// Changes last for one round. Deadline, interceptors and retry policy are fixed at dispatch and cannot be changed.
    public typealias Adapt = @Sendable (inout APIConfiguration, DispatchContext) async throws -> Void
    /// Called for each event, without being able to change anything.
    ///
    /// It is called on a queue of the client, in the order of the events. A slow observer does not delay requests.
    public typealias Observe = @Sendable (DispatchEvent) -> Void
    /// Returns the decision after any round has ended; if it throws, the request ends with the error.
    public typealias Retry = @Sendable (RoundResult) async throws -> RetryDecision

    /// The name with which the interceptor's errors are reported.
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
    ///   - name: The name with which its errors are reported.
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

    /// Returns an interceptor that only changes or refuses requests.
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

    /// The interceptors of this call, which come after the client's, none by default.
    public var interceptors: [RequestInterceptor] {
        get { self[setting: InterceptorsSetting.self] }
        set { self[setting: InterceptorsSetting.self] = newValue }
    }

    /// The limits that every round of this call passes after the client's limits, none by default.
    ///
    /// A limit counts the calls that have the same limit object.
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
