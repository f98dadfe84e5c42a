public import SwitchyardClient
import SwitchyardServices

extension RequestInterceptor {
    /// Returns an interceptor that reports whether any request is running, for an activity indicator.
    ///
    ///     options.interceptors = [.activity { isActive in Task { @MainActor in spinner.isHidden = !isActive } }]
    ///
    /// - Parameter change: Called with `true` when the first request starts and with `false` when the last one has
    ///   ended, on a queue of the client.
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
                // A request that was cancelled before its dispatch was never counted.
                let isLast = running.withLock { running in
                    running.remove(event.id) != nil && running.isEmpty
                }
                if isLast { change(false) }
            default: break
            }
        }
    }
}
