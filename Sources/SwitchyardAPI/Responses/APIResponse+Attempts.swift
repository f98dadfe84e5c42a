public import SwitchyardClient

extension APIResponse {
    /// The attempts of the call, in order, or an empty array for a value from the cache.
    public var attempts: [CallAttempt] { context?.history.attempts ?? [] }
}
