public import SwitchyardClient
import SwitchyardServices

extension RequestInterceptor {
    /// An interceptor that tells whether any request is under way: for an activity indicator.
    ///
    ///     options.interceptors = [.activity { isActive in Task { @MainActor in spinner.isHidden = !isActive } }]
    ///
    /// - Parameter change: Called with `true` when the first request begins and with `false` when the last has ended, on
    ///   a queue of the client's.
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
                // One that was cancelled before it began has never been counted.
                let isLast = running.withLock { running in
                    running.remove(event.id) != nil && running.isEmpty
                }
                if isLast { change(false) }
            default: break
            }
        }
    }
}
