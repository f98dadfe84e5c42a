import SwitchyardHTTP

extension CachePolicy {
    /// Returns how long a response is fresh, and how much longer it is kept, according to the call.
    func keepingTime(_ lifetime: Duration, _ headers: HTTPHeaders) -> (fresh: Duration, stale: Duration) {
        let canBeConfirmed = !HTTPCacheRules.conditions(for: headers).isEmpty
        return (lifetime, max(keepsStaleFor, canBeConfirmed ? keepsForConfirmation : .zero))
    }

    /// Returns how long a response is fresh, and how much longer it is kept, according to the response's own header
    /// fields.
    func keepingTime(_ http: HTTPFreshness) -> (fresh: Duration, stale: Duration) {
        let control = CacheControl(http.headers)
        let windows = ["stale-while-revalidate", "stale-if-error"].compactMap { control.seconds($0) }
        let fresh = control.has("no-cache") ? 0 : max(0, http.lifetime - http.age(at: http.received))
        let (_, stale) = keepingTime(.zero, http.headers)
        return (.seconds(fresh), max(stale, .seconds(windows.max() ?? 0)))
    }
}
