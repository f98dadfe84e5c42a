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
        let count = Locked(0)
        return .observing("activity") { event in
            switch event.kind {
            case .dispatched:
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { change(true) }
            case .ended:
                let isLast = count.withLock { count in
                    count -= 1
                    return count == 0
                }
                if isLast { change(false) }
            default: break
            }
        }
    }
}
