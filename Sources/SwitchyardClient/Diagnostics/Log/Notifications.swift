public import Foundation

extension Notification.Name {
    /// A request was dispatched.
    public static let requestDidStart = Notification.Name("switchyard.request.started")
    /// An attempt of a request ended, at one server.
    public static let requestAttemptDidEnd = Notification.Name("switchyard.request.attempt")
    /// A request ended, whatever came of it.
    public static let requestDidEnd = Notification.Name("switchyard.request.ended")
}

/// What stands in the user info of a notification about a request.
public enum RequestNotificationKey {
    /// The ``RequestID``.
    public static let id = "id"
    /// The ``DispatchEvent``, with everything that is known.
    public static let event = "event"
    /// The status as an `Int`, when an answer came.
    public static let status = "status"
    /// The ``RequestFailure`` or ``TransportError``, when none came.
    public static let error = "error"
    /// The body as `Data`, when it came in one piece.
    public static let body = "body"
    /// The ``TransferMetrics``, when the transport measures.
    public static let metrics = "metrics"
}

extension RequestInterceptor {
    /// An interceptor that posts notifications, for whoever cannot be handed the client.
    ///
    /// - Parameter center: Where to post; the default centre unless given. Posts come from a queue of the client's.
    /// - Returns: The interceptor.
    public static func notifying(_ center: NotificationCenter = .default) -> RequestInterceptor {
        .observing("notifications") { event in
            guard let (name, facts) = facts(of: event) else { return }
            var info = facts
            info[RequestNotificationKey.id] = event.id
            info[RequestNotificationKey.event] = event
            center.post(name: name, object: nil, userInfo: info)
        }
    }

    private static func facts(of event: DispatchEvent) -> (Notification.Name, [AnyHashable: Any])? {
        switch event.kind {
        case .dispatched: (.requestDidStart, [:])
        case .attemptEnded(_, .success(let response)): (.requestAttemptDidEnd, facts(of: response))
        case .attemptEnded(_, .failure(let error)): (.requestAttemptDidEnd, [RequestNotificationKey.error: error])
        case .ended(.success(let answer)): (.requestDidEnd, facts(of: answer.response))
        case .ended(.failure(let failure)): (.requestDidEnd, [RequestNotificationKey.error: failure])
        case .roundBegan, .attemptSent, .redirected, .roundEnded, .waiting: nil
        }
    }

    private static func facts(of response: HTTPResponse) -> [AnyHashable: Any] {
        var facts: [AnyHashable: Any] = [RequestNotificationKey.status: response.status]
        if case .whole(let data) = response.body { facts[RequestNotificationKey.body] = data }
        facts[RequestNotificationKey.metrics] = response.metrics
        return facts
    }
}
