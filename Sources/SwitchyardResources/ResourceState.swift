import SwitchyardAPI
import SwitchyardHTTP
import SwitchyardServices

/// The state of a resource, protected by its lock.
struct ResourceState<Value: Sendable>: Sendable {
    /// A value and the time of its arrival.
    struct Content: Sendable {
        var value: Value
        var origin: ResourceSnapshot<Value>.Origin
        var response: HTTPResponse?
        var created: MonotonicTime

        init(
            _ value: Value,
            _ origin: ResourceSnapshot<Value>.Origin,
            _ response: HTTPResponse? = nil,
            created: MonotonicTime
        ) {
            self.value = value
            self.origin = origin
            self.response = response
            self.created = created
        }

        init(_ stored: CachedValue<Value>, now: MonotonicTime) {
            let source: ResponseSource = stored.isFresh ? .cache(age: stored.age) : .staleCache(age: stored.age)
            self.init(stored.value, .answer(source), stored.answer, created: now.advanced(by: .zero - stored.age))
        }
    }

    var content: Content?
    /// The time and error of the last failure.
    ///
    /// The error is `nil` if the cache returned a stored value because the server failed.
    var failure: (error: APIError?, time: MonotonicTime)?
    var flight: SingleFlight<Value>?
    /// Whether the value must be loaded again.
    ///
    /// This applies also to a stored value that has not been shown yet.
    var isInvalid = false
    /// Whether the value was invalidated during the load in flight, whose response may be from before the change.
    var isFlightOutdated = false
    /// The count of `PathWrites` for the call's path when the load in flight started.
    var writes: UInt32 = 0
    /// Whether the value was removed with `wipe()`, so that a stored value must not replace it.
    var isWiped = false
    var listeners = ChangeListeners()

    init(_ content: Content?) {
        self.content = content
    }

    func snapshot(at now: MonotonicTime, _ expiration: Duration) -> ResourceSnapshot<Value> {
        ResourceSnapshot(
            value: content?.value,
            origin: content?.origin,
            response: content?.response,
            age: content.map { $0.created.duration(to: now) },
            isCurrent: isCurrent(at: now, expiration),
            error: failure?.error,
            isLoading: flight != nil
        )
    }

    private func isCurrent(at now: MonotonicTime, _ expiration: Duration) -> Bool {
        content.map { !isInvalid && $0.created.duration(to: now) < expiration } ?? false
    }

    /// Returns whether the value must be loaded, because it is not current and the last failure is long enough ago.
    func needsLoad(at now: MonotonicTime, _ expiration: Duration, retryDelay: Duration) -> Bool {
        guard !isCurrent(at: now, expiration) else { return false }
        guard let failure, retryDelay > .zero else { return true }
        return failure.time.duration(to: now) > retryDelay
    }
}
