public import SwitchyardClient
import SwitchyardServices

extension RequestInterceptor {
    /// Returns an interceptor that reports whether any request is running, for an activity indicator.
    ///
    ///     options.interceptors = [.activity { isActive in Task { @MainActor in spinner.isHidden = !isActive } }]
    ///
    /// - Parameter change: A closure that is called with `true` when a request starts while no other request is
    ///   running, and with `false` when no request is running any more. It is called on a queue of the client.
    /// - Returns: The interceptor.
    public static func activity(_ change: @escaping @Sendable (Bool) -> Void) -> RequestInterceptor {
        .observing(ActivityObserver(change: change))
    }
}

/// An observer that reports whether any request is running.
private final class ActivityObserver: CallObserver {
    private let change: @Sendable (Bool) -> Void
    private let running = Locked<Set<RequestID>>([])

    init(change: @escaping @Sendable (Bool) -> Void) {
        self.change = change
    }

    func callStarted(_ configuration: APIConfiguration, in event: DispatchEvent) {
        let isFirst = running.withLock { running in
            running.insert(event.id)
            return running.count == 1
        }
        if isFirst { change(true) }
    }

    func callEnded(with result: Result<ServiceResponse, RequestFailure>, in event: DispatchEvent) {
        // A request that was cancelled before its dispatch is not in the set.
        let isLast = running.withLock { $0.remove(event.id) != nil && $0.isEmpty }
        if isLast { change(false) }
    }
}
