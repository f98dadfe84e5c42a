public import Foundation

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
