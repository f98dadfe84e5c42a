public import Foundation

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

extension Notification.Name {
    /// A request was dispatched; the event is under `Notification.switchyardEventKey`.
    public static let switchyardRequestDidStart = Notification.Name("Switchyard.RequestDidStart")
    /// A request waits before another round.
    public static let switchyardRequestDidPause = Notification.Name("Switchyard.RequestDidPause")
    /// An attempt of a request has ended, at one server.
    public static let switchyardAttemptDidEnd = Notification.Name("Switchyard.AttemptDidEnd")
    /// A request has ended, with an answer or without.
    public static let switchyardRequestDidEnd = Notification.Name("Switchyard.RequestDidEnd")
}

extension Notification {
    /// The key under which notifications carry their ``DispatchEvent``.
    public static let switchyardEventKey = "Switchyard.Event"

    /// The event that a notification of this library is about; `nil` for any other notification.
    public var dispatchEvent: DispatchEvent? { userInfo?[Self.switchyardEventKey] as? DispatchEvent }
}

extension RequestInterceptor {
    /// An interceptor that posts notifications, for parts of an app that know nothing of the client.
    ///
    /// The event has answer, body, header fields and metrics, or the failure. Notifications are posted on the queue of
    /// observers, in the order of the events.
    ///
    /// - Parameter center: Where to post; the default centre unless given.
    /// - Returns: The interceptor.
    public static func posting(to center: NotificationCenter = .default) -> RequestInterceptor {
        let poster = Poster(center: center)
        return .observing("notifications") { poster.post($0) }
    }
}

/// Posts the notification of an event.
private struct Poster: @unchecked Sendable {
    // @unchecked is sound: a notification centre may be used from any thread.
    let center: NotificationCenter

    func post(_ event: DispatchEvent) {
        let name: Notification.Name? =
            switch event.kind {
            case .dispatched: .switchyardRequestDidStart
            case .waiting: .switchyardRequestDidPause
            case .attemptEnded: .switchyardAttemptDidEnd
            case .ended: .switchyardRequestDidEnd
            case .roundBegan, .attemptSent, .redirected, .roundEnded: nil
            }
        guard let name else { return }
        center.post(name: name, object: nil, userInfo: [Notification.switchyardEventKey: event])
    }
}

/// What surrounds one call.
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

    /// What takes part in this call's flow, behind the client's interceptors; nothing unless set.
    public var interceptors: [RequestInterceptor] {
        get { self[setting: InterceptorsSetting.self] }
        set { self[setting: InterceptorsSetting.self] = newValue }
    }

    /// What every round of this call passes first, behind the client's limits; nothing unless set.
    ///
    /// A limit counts the calls that carry the same object.
    public var limits: [any RequestLimit] {
        get { self[setting: LimitsSetting.self] }
        set { self[setting: LimitsSetting.self] = newValue }
    }

    /// Whether and when the call is sent again; the client's policy when `nil`, the default.
    public var retry: RetryPolicy? {
        get { self[setting: RetrySetting.self] }
        set { self[setting: RetrySetting.self] = newValue }
    }
}
