public import SwitchyardHTTP

/// An observer of the calls of a client.
///
/// Every method has a default implementation that does nothing, so an observer implements only the methods that it
/// needs. An observer cannot change anything. Logs, statistics, archives and notifications are observers.
///
///     struct RetryCounter: CallObserver {
///         let increment: @Sendable () -> Void
///
///         func retryScheduled(after pause: Duration, in event: DispatchEvent) { increment() }
///     }
///
///     options.interceptors = [.observing(RetryCounter { meter.count() })]
///
/// ### Order
/// The methods of a call are called in this order. Indented methods may be called several times:
///
///     callStarted
///         roundStarted            limits passed, configuration adapted, credential added
///             attemptStarted      once for each server, also for a second attempt while one is slow
///             attemptRedirected   the attempt continues at another URL
///             attemptEnded        not for an attempt that was cancelled after another attempt got a response
///         roundEnded
///         retryScheduled          before another round
///     callEnded                   exactly once
///
/// A *round* is one try at the request with its failovers and hedges. Each retry starts another round.
///
/// A call that gets a stored response calls only ``cachedResponseUsed(status:isFresh:in:)``. If the stored response is
/// refreshed for later calls, the request for it is a call of its own.
///
/// ### Isolation
/// The methods are called on a queue of the client, one after the other. A slow observer delays other observers, but no
/// calls. If 65,536 events wait, further events are dropped.
public protocol CallObserver: Sendable {
    /// Called for each event.
    ///
    /// The default implementation calls the method for the event. An observer that implements this method itself gets
    /// every event here, and no other method is called.
    func observe(_ event: DispatchEvent)
    /// Called when the client has registered the call.
    func callStarted(_ configuration: APIConfiguration, in event: DispatchEvent)
    /// Called when a round begins with this configuration: the first try at the request or a retry.
    func roundStarted(_ configuration: APIConfiguration, in event: DispatchEvent)
    /// Called when an attempt is passed to the transport.
    func attemptStarted(_ attempt: AttemptRecord, in event: DispatchEvent)
    /// Called when a server has redirected the attempt to another URL.
    func attemptRedirected(_ attempt: AttemptRecord, by step: RedirectStep, in event: DispatchEvent)
    /// Called when an attempt has ended, with the transport's result or because the call ended.
    func attemptEnded(
        _ attempt: AttemptRecord,
        with result: Result<HTTPResponse, TransportError>,
        in event: DispatchEvent
    )
    /// Called when a round has ended: the first try at the request or a retry, with its failovers.
    func roundEnded(with result: Result<ServiceResponse, RequestFailure>, in event: DispatchEvent)
    /// Called before a pause of this duration, after which the request is sent again.
    func retryScheduled(after pause: Duration, in event: DispatchEvent)
    /// Called when the call has ended. The caller receives this result at the same time.
    func callEnded(with result: Result<ServiceResponse, RequestFailure>, in event: DispatchEvent)
    /// Called instead of all other methods when a call gets a stored response with this status.
    func cachedResponseUsed(status: Int, isFresh: Bool, in event: DispatchEvent)
}

extension CallObserver {
    /// Calls the method for the event.
    public func observe(_ event: DispatchEvent) {
        switch event.kind {
        case .dispatched(let configuration): callStarted(configuration, in: event)
        case .roundBegan(let configuration): roundStarted(configuration, in: event)
        case .attemptSent(let attempt): attemptStarted(attempt, in: event)
        case .redirected(let attempt, let step): attemptRedirected(attempt, by: step, in: event)
        case .attemptEnded(let attempt, let result): attemptEnded(attempt, with: result, in: event)
        case .roundEnded(let result): roundEnded(with: result, in: event)
        case .waiting(let pause): retryScheduled(after: pause, in: event)
        case .ended(let result): callEnded(with: result, in: event)
        case .cachedResponseUsed(let status, let isFresh):
            cachedResponseUsed(status: status, isFresh: isFresh, in: event)
        }
    }

    /// By default, does nothing.
    public func callStarted(_ configuration: APIConfiguration, in event: DispatchEvent) {}
    /// By default, does nothing.
    public func roundStarted(_ configuration: APIConfiguration, in event: DispatchEvent) {}
    /// By default, does nothing.
    public func attemptStarted(_ attempt: AttemptRecord, in event: DispatchEvent) {}
    /// By default, does nothing.
    public func attemptRedirected(_ attempt: AttemptRecord, by step: RedirectStep, in event: DispatchEvent) {}
    /// By default, does nothing.
    public func attemptEnded(
        _ attempt: AttemptRecord,
        with result: Result<HTTPResponse, TransportError>,
        in event: DispatchEvent
    ) {}
    /// By default, does nothing.
    public func roundEnded(with result: Result<ServiceResponse, RequestFailure>, in event: DispatchEvent) {}
    /// By default, does nothing.
    public func retryScheduled(after pause: Duration, in event: DispatchEvent) {}
    /// By default, does nothing.
    public func callEnded(with result: Result<ServiceResponse, RequestFailure>, in event: DispatchEvent) {}
    /// By default, does nothing.
    public func cachedResponseUsed(status: Int, isFresh: Bool, in event: DispatchEvent) {}
}

/// An observer made of one closure for all events.
struct ClosureObserver: CallObserver {
    let closure: @Sendable (DispatchEvent) -> Void

    func observe(_ event: DispatchEvent) { closure(event) }
}
