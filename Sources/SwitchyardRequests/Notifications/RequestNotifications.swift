public import Foundation
public import SwitchyardClient

extension Notification.Name {
    /// Posted when a request was dispatched, with the event under `Notification.switchyardEventKey`.
    public static let switchyardRequestDidStart = Notification.Name("Switchyard.RequestDidStart")
    /// Posted when a request waits before another round.
    public static let switchyardRequestDidPause = Notification.Name("Switchyard.RequestDidPause")
    /// Posted when an attempt of a request at one server has ended.
    public static let switchyardAttemptDidEnd = Notification.Name("Switchyard.AttemptDidEnd")
    /// Posted when a request has ended, with or without a response.
    public static let switchyardRequestDidEnd = Notification.Name("Switchyard.RequestDidEnd")
}

extension Notification {
    /// The key under which notifications carry their ``/SwitchyardClient/DispatchEvent``.
    public static let switchyardEventKey = "Switchyard.Event"

    /// The event that a notification of this library carries, or `nil` for any other notification.
    public var dispatchEvent: DispatchEvent? { userInfo?[Self.switchyardEventKey] as? DispatchEvent }
}

extension RequestInterceptor {
    /// Returns an interceptor that posts notifications, for parts of an app without access to the client.
    ///
    /// The event contains the response with body, header fields and metrics, or the failure. Notifications are posted
    /// on the observers' queue, in the order of the events.
    ///
    /// - Parameter center: The notification centre, by default the default centre.
    /// - Returns: The interceptor.
    public static func posting(to center: NotificationCenter = .default) -> RequestInterceptor {
        let poster = Poster(center: center)
        return .observing("notifications") { poster.post($0) }
    }
}

/// A poster of notifications for events.
private struct Poster: @unchecked Sendable {
    // `@unchecked` is sound because a notification centre may be used from any thread.
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
