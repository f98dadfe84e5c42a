public import Foundation
public import SwitchyardClient
import SwitchyardHTTP

extension Notification.Name {
    /// Posted when a request is dispatched.
    ///
    /// The `userInfo` of the notification contains the event under `Notification.switchyardEventKey`.
    public static let switchyardRequestDidStart = Notification.Name("Switchyard.RequestDidStart")
    /// Posted when a request waits before a retry.
    public static let switchyardRequestDidPause = Notification.Name("Switchyard.RequestDidPause")
    /// Posted when an attempt (one try of the request at one server) has ended.
    public static let switchyardAttemptDidEnd = Notification.Name("Switchyard.AttemptDidEnd")
    /// Posted when a request has ended, with or without a response.
    public static let switchyardRequestDidEnd = Notification.Name("Switchyard.RequestDidEnd")
}

extension Notification {
    /// The `userInfo` key of the ``/SwitchyardClient/DispatchEvent`` in a notification.
    public static let switchyardEventKey = "Switchyard.Event"

    /// The event of a notification that this library posted, or `nil` for any other notification.
    public var dispatchEvent: DispatchEvent? { userInfo?[Self.switchyardEventKey] as? DispatchEvent }
}

extension RequestInterceptor {
    /// Returns an interceptor that posts notifications, for parts of an app without access to the client.
    ///
    /// The event contains the response with its body, header fields and metrics, or the failure. Notifications are
    /// posted in the order of the events, on the queue of the client's observers.
    ///
    /// - Parameter center: The notification center, by default the default center.
    /// - Returns: The interceptor.
    public static func posting(to center: NotificationCenter = .default) -> RequestInterceptor {
        .observing(NotificationPoster(center: center))
    }
}

/// An observer that posts notifications.
private struct NotificationPoster: CallObserver, @unchecked Sendable {
    // `@unchecked` is sound because a notification center may be used from any thread.
    let center: NotificationCenter

    func callStarted(_ configuration: APIConfiguration, in event: DispatchEvent) {
        post(.switchyardRequestDidStart, event)
    }

    func retryScheduled(after pause: Duration, in event: DispatchEvent) { post(.switchyardRequestDidPause, event) }

    func attemptEnded(
        _ attempt: AttemptRecord,
        with result: Result<HTTPResponse, TransportError>,
        in event: DispatchEvent
    ) {
        post(.switchyardAttemptDidEnd, event)
    }

    func callEnded(with result: Result<ServiceResponse, RequestFailure>, in event: DispatchEvent) {
        post(.switchyardRequestDidEnd, event)
    }

    private func post(_ name: Notification.Name, _ event: DispatchEvent) {
        center.post(name: name, object: nil, userInfo: [Notification.switchyardEventKey: event])
    }
}
