/// Takes part in a request's flow, in up to three ways that are kept apart: it adapts, observes, or decides on a
/// retry.
///
/// An interceptor is a value; what it does not do costs nothing. The client's come first, in their order, then those of
/// the ``APIConfiguration``.
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
/// A type of your own that does several of the three hands out one value made with
/// ``init(_:adapt:observe:retry:)``, closures over itself.
///
/// None of the three can hang a request: its deadline and a cancel end it, whatever an interceptor does. An interceptor
/// may send requests of its own; they are requests like any other.
public struct RequestInterceptor: Sendable {
    /// Changes what a round sends, or refuses to send it by throwing.
    ///
    /// It is given the configuration as it was dispatched, after the changes of the interceptors before it. Changes last
    /// for one round. What is fixed at dispatch stays: deadline, interceptors, retry policy.
    public typealias Adapt = @Sendable (inout APIConfiguration, DispatchContext) async throws -> Void
    /// Is told what happens and can change nothing.
    ///
    /// Called on a queue of the client's, one event after the other in the order in which they happened; an observer
    /// may take its time without slowing a request down.
    public typealias Observe = @Sendable (DispatchEvent) -> Void
    /// Says what follows from the end of a round, of whatever kind; what it throws ends the request.
    public typealias Retry = @Sendable (EndedRound) async throws -> RetryDecision

    /// The name under which its errors appear.
    public var name: String
    /// Changes what a round sends; `nil` unless given.
    public var adapt: Adapt?
    /// Is told what happens; `nil` unless given.
    public var observe: Observe?
    /// Says what follows from the end of a round; `nil` unless given.
    public var retry: Retry?

    /// Creates an interceptor that does what is given.
    ///
    /// - Parameters:
    ///   - name: The name under which its errors appear.
    ///   - adapt: Changes what a round sends.
    ///   - observe: Is told what happens.
    ///   - retry: Says what follows from the end of a round.
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

    /// An interceptor that only changes or refuses what is sent.
    public static func adapting(_ name: String = "interceptor", _ adapt: @escaping Adapt) -> RequestInterceptor {
        RequestInterceptor(name, adapt: adapt)
    }

    /// An interceptor that only watches.
    public static func observing(_ name: String = "interceptor", _ observe: @escaping Observe) -> RequestInterceptor {
        RequestInterceptor(name, observe: observe)
    }

    /// An interceptor that only decides what follows from the end of a round.
    public static func retrying(_ name: String = "interceptor", _ retry: @escaping Retry) -> RequestInterceptor {
        RequestInterceptor(name, retry: retry)
    }
}
