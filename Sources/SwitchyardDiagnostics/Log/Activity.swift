public import SwitchyardClient
import SwitchyardServices

extension RequestInterceptor {
    /// Returns an interceptor that reports whether any request is running, for an activity indicator.
    ///
    ///     options.interceptors = [.activity { isActive in Task { @MainActor in spinner.isHidden = !isActive } }]
    ///
    /// - Parameter change: A closure that is called with `true` when a request starts while no other is running, and
    ///   with `false` when no request is running any more. It is called on a queue of the client.
    /// - Returns: The interceptor.
    public static func activity(_ change: @escaping @Sendable (Bool) -> Void) -> RequestInterceptor {
        let running = Locked<Set<RequestID>>([])
        return .observing("activity") { event in
            switch event.kind {
            case .dispatched:
                let isFirst = running.withLock { running in
                    running.insert(event.id)
                    return running.count == 1
                }
                if isFirst { change(true) }
            case .ended:
                // A request that was cancelled before its dispatch is not in the set.
                let isLast = running.withLock { running in
                    running.remove(event.id) != nil && running.isEmpty
                }
                if isLast { change(false) }
            default: break
            }
        }
    }
}
