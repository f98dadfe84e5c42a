import SwitchyardServices

/// The state of a resource behind its lock.
struct ResourceState<Value: Sendable>: Sendable {
    /// A value and the time of its arrival.
    struct Content: Sendable {
        var value: Value
        var origin: ResourceSnapshot<Value>.Origin
        var answer: CachedResponse?
        var created: MonotonicTime

        init(
            _ value: Value,
            _ origin: ResourceSnapshot<Value>.Origin,
            _ answer: CachedResponse? = nil,
            created: MonotonicTime
        ) {
            self.value = value
            self.origin = origin
            self.answer = answer
            self.created = created
        }

        init(_ stored: CachedValue<Value>, now: MonotonicTime) {
            let source: ResponseSource = stored.isFresh ? .cache(age: stored.age) : .staleCache(age: stored.age)
            self.init(stored.value, .answer(source), stored.answer, created: now.advanced(by: .zero - stored.age))
        }
    }

    var content: Content?
    /// The time and error of the last failure; without an error if a stored value replaced the server's response.
    var failure: (error: APIError?, time: MonotonicTime)?
    var flight: SingleFlight<Value>?
    /// Whether the value has to be loaded again, also if it is stored and not shown yet.
    var isInvalid = false
    /// Whether the value was invalidated during the load in flight, whose response may be from before the change.
    var isFlightOutdated = false
    /// How many writes there had been at the path when the load under way was begun.
    var writes: UInt32 = 0
    /// Whether the value was removed on purpose, so that a stored one is not to come back.
    var isWiped = false
    var listeners = ChangeListeners()

    init(_ content: Content?) {
        self.content = content
    }

    func snapshot(at now: MonotonicTime, _ expiration: Duration) -> ResourceSnapshot<Value> {
        ResourceSnapshot(
            value: content?.value,
            origin: content?.origin,
            answer: content?.answer,
            age: content.map { $0.created.duration(to: now) },
            isCurrent: isCurrent(at: now, expiration),
            error: failure?.error,
            isLoading: flight != nil
        )
    }

    private func isCurrent(at now: MonotonicTime, _ expiration: Duration) -> Bool {
        content.map { !isInvalid && $0.created.duration(to: now) < expiration } ?? false
    }

    /// Whether a load is called for.
    func needsLoad(at now: MonotonicTime, _ expiration: Duration, retryDelay: Duration) -> Bool {
        guard !isCurrent(at: now, expiration) else { return false }
        guard let failure, retryDelay > .zero else { return true }
        return failure.time.duration(to: now) > retryDelay
    }
}
