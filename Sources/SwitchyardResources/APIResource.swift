public import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The response of one call as a screen observes it: the latest value, the latest error, and whether a load is in
/// flight.
///
///     let user = users.resource(User.self, for: .user(7))
///     for await state in user.updates { show(state) }
///
/// Each call has one resource, so all screens show the same value. A value is kept until a newer value arrives, even if
/// a load fails. Any thread may call the resource.
///
/// A resource belongs to the environment and the user at its creation. After the environment or the user has changed,
/// its loads fail with ``/SwitchyardAPI/APIError/Cancellation/superseded``, and their results are neither shown nor
/// stored. Get another resource from the manager instead.
public final class APIResource<Value: Sendable>: Sendable {
    /// The time for which a value is current, and the time after a failure during which no request is sent.
    public struct Options: Sendable, Hashable {
        /// The time for which a value is current.
        ///
        /// If `nil` (the default), it is the lifetime of the call, or 30 seconds if the call is not cached, as in
        /// Siesta.
        public var expiration: Duration?
        /// The time after a failure during which ``APIResource/loadIfNeeded()`` sends no request, a second by default.
        public var retryDelay: Duration

        /// Creates options with the default values of the properties.
        public init(expiration: Duration? = nil, retryDelay: Duration = .seconds(1)) {
            self.expiration = expiration
            self.retryDelay = retryDelay
        }
    }

    let state: Locked<ResourceState<Value>>
    let time: any TimeSource
    let expiration: Duration
    let retryDelay: Duration
    private let fetch: @Sendable () async -> Result<APIResponse<Value>, APIError>
    private let recall: @Sendable () async -> CachedValue<Value>?
    private let outdate: @Sendable () -> Void
    private let writes: PathWrites?
    private let completed: @Sendable (APIError) -> APIError
    /// Returns whether the environment and user are still the same as when the resource was created.
    let isPresent: @Sendable () -> Bool

    init(
        _ stored: CachedValue<Value>?,
        expiration: Duration,
        retryDelay: Duration,
        time: any TimeSource,
        completed: @escaping @Sendable (APIError) -> APIError,
        isPresent: @escaping @Sendable () -> Bool,
        writes: PathWrites? = nil,
        recall: @escaping @Sendable () async -> CachedValue<Value>?,
        outdate: @escaping @Sendable () -> Void,
        fetch: @escaping @Sendable () async -> Result<APIResponse<Value>, APIError>
    ) {
        self.time = time
        self.expiration = expiration
        self.retryDelay = retryDelay
        self.completed = completed
        self.isPresent = isPresent
        self.writes = writes
        self.recall = recall
        self.outdate = outdate
        self.fetch = fetch
        state = Locked(ResourceState(stored.map { ResourceState.Content($0, now: time.now) }))
    }

    deinit {
        state.withLock { $0.listeners.end() }.forEach { $0.finish() }
    }

    /// The current state.
    public var snapshot: ResourceSnapshot<Value> { state.withLock { $0.snapshot(at: time.now, expiration) } }

    /// The latest value, or `nil` if there is none yet.
    public var value: Value? { state.withLock { $0.content?.value } }

    /// Whether ``updates`` has an observer.
    public var isObserved: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Whether a load is in flight.
    public var isLoading: Bool { state.withLock { $0.flight != nil } }

    /// Loads the value from the server.
    ///
    /// A call of this function during a load joins that load. If the load started before ``invalidate()``, the call
    /// waits for the end of the load and then loads again. Cancelling the task does not cancel the load for other
    /// waiters.
    ///
    /// - Returns: The value.
    /// - Throws: ``/SwitchyardAPI/APIError``. The previous value is kept.
    @discardableResult
    public nonisolated(nonsending) func load() async throws(APIError) -> Value {
        while true {
            let (flight, isOutdated) = begin(needsWaiters: true)
            switch await flight.ending() {
            case .landed(.success) where isOutdated && !Task.isCancelled: continue
            case .landed(let result): return try result.get().value
            case .gone where !Task.isCancelled: continue
            case .late: throw completed(APIError(.limited(.deadline)))
            case .gone, .cancelled: throw completed(APIError(.cancelled(.caller)))
            }
        }
    }

    /// Loads the value from the server if there is no current value and the last failure was more than
    /// ``Options/retryDelay`` ago.
    ///
    /// A value on disk is shown first.
    ///
    /// - Returns: The value, or `nil` if there is no value and the last failure is too recent.
    /// - Throws: ``/SwitchyardAPI/APIError``.
    @discardableResult
    public nonisolated(nonsending) func loadIfNeeded() async throws(APIError) -> Value? {
        if state.withLock({ $0.content == nil && $0.flight == nil && !$0.isWiped }), let stored = await recall() {
            change { state in
                guard state.content == nil, !state.isWiped else { return }
                state.content = ResourceState.Content(stored, now: time.now)
            }
        }
        let needs = state.withLock { $0.needsLoad(at: time.now, expiration, retryDelay: retryDelay) }
        guard needs else { return value }
        return try await load()
    }

    /// Starts a load without waiting for it.
    ///
    /// If a load is in flight, nothing happens.
    public func startLoading() {
        begin(needsWaiters: false)
    }

    /// Cancels the load in flight and its waiters.
    public func cancelLoad() {
        state.withLock { $0.flight }?.cancel()
    }

    /// Cancels the load in flight unless the resource is observed.
    ///
    /// - Parameter delay: The time to wait before the function checks for observers, zero by default. A delay is useful
    ///   because a screen that disappears is often followed by another screen that observes the same resource.
    public func cancelLoadIfUnobserved(after delay: Duration = .zero) {
        guard delay > .zero else {
            if !isObserved { cancelLoad() }
            return
        }
        // The timer does not retain the resource, and does nothing after the resource has been released.
        _ = time.schedule(at: time.now.advanced(by: delay)) { [weak self] in self?.cancelLoadIfUnobserved() }
    }
}

// MARK: - Changing the value

extension APIResource {
    /// Marks the value as outdated, so that it is loaded again.
    ///
    /// The value is kept until a newer value arrives.
    ///
    /// The result of a load in flight is marked as outdated too, because the server may have responded before the
    /// change. For the same reason, no later load joins a request that is already in flight, whether a resource or a
    /// call has sent it. The same applies after ``wipe()`` and ``override(with:)``.
    public func invalidate() {
        outdate()
        change { state in
            state.isInvalid = true
            state.isFlightOutdated = state.flight != nil
            state.failure = nil
        }
    }

    /// Removes the value and the error, and abandons the load in flight.
    public func wipe() {
        outdate()
        state.withLock { $0.flight }?.cancel()
        change { state in
            state.content = nil
            state.failure = nil
            state.isWiped = true
        }
    }

    /// Sets the value without a request, for example after the app has changed it.
    ///
    /// The load in flight is abandoned.
    public func override(with value: Value) {
        outdate()
        state.withLock { $0.flight }?.cancel()
        change { state in
            state.content = ResourceState.Content(value, .local, created: time.now)
            state.isInvalid = false
            state.failure = nil
        }
    }

    private func change(_ change: (inout ResourceState<Value>) -> Void) {
        let listeners = state.withLock { state in
            change(&state)
            return state.listeners.all
        }
        for listener in listeners { listener.yield() }
    }

    /// Joins the load in flight or starts a new load, and returns whether the response of the load is already outdated.
    @discardableResult
    private func begin(needsWaiters: Bool) -> (flight: SingleFlight<Value>, isOutdated: Bool) {
        let written = writes?.count ?? 0
        let (flight, isNew, isOutdated, listeners) = state.withLock { state in
            if let flight = state.flight {
                // A call has written to the path since the load started, so the load's response may be from before the
                // write.
                if state.writes != written { state.isFlightOutdated = true }
                return (flight, false, state.isFlightOutdated, [AsyncStream<Void>.Continuation]())
            }
            let flight = SingleFlight<Value>(needsWaiters: needsWaiters) { [weak self] in self?.ended($0) }
            state.flight = flight
            state.isFlightOutdated = false
            state.writes = written
            return (flight, true, false, state.listeners.all)
        }
        guard isNew else { return (flight, isOutdated) }
        for listener in listeners { listener.yield() }
        flight.start { [weak self, weak flight, fetch] in
            let result = await fetch()
            self?.take(result, of: flight)
            return result
        }
        return (flight, false)
    }

    /// Applies the result of a load, unless the load was cancelled.
    private func take(_ result: Result<APIResponse<Value>, APIError>, of flight: SingleFlight<Value>?) {
        let now = time.now
        let written = writes?.count ?? 0
        state.withLock { state in
            guard let flight, state.flight === flight else { return }
            if state.writes != written { state.isFlightOutdated = true }
            switch result {
            case .success(let response):
                let head = HTTPResponse(status: response.status, headers: response.headers)
                let age = response.source.age
                let created = now.advanced(by: .zero - age)
                state.content = ResourceState.Content(
                    response.value,
                    .answer(response.source),
                    head,
                    created: created
                )
                // If the cache returned a stored value because the server failed, a value that was outdated stays
                // outdated.
                state.isInvalid = state.isFlightOutdated || state.isInvalid && response.isFromCache
                // A stored value keeps its age. If the age is above zero, no request is sent during the retry delay.
                state.failure = age > .zero ? (nil, now) : nil
                state.isWiped = false
            case .failure(let error):
                guard !error.isCancellation else { return }
                state.failure = (error, now)
            }
        }
    }

    private func ended(_ flight: SingleFlight<Value>) {
        change { state in
            if state.flight === flight { state.flight = nil }
        }
    }
}

/// The states of a resource: the current state and then each change, until the resource is released.
///
/// A slow reader gets the newest state and misses the states in between.
public struct ResourceUpdates<Value: Sendable>: AsyncSequence, Sendable {
    /// A state of the resource.
    public typealias Element = ResourceSnapshot<Value>
    /// The sequence never fails.
    public typealias Failure = Never

    let state: Locked<ResourceState<Value>>
    let time: any TimeSource
    let expiration: Duration

    /// Returns an iterator that starts with the current state.
    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: self, signals: state.signals(to: \.listeners).makeAsyncIterator())
    }

    /// An iterator over the states.
    public struct Iterator: AsyncIteratorProtocol {
        let updates: ResourceUpdates
        var signals: AsyncStream<Void>.Iterator

        /// Returns the current state at first, and then the state after each change.
        ///
        /// Returns `nil` when the resource has been released.
        public mutating func next() async -> ResourceSnapshot<Value>? {
            guard await signals.next() != nil else { return nil }
            return updates.state.withLock { $0.snapshot(at: updates.time.now, updates.expiration) }
        }
    }
}

extension APIResource {
    /// The states of the resource: the current state and then each change.
    public var updates: ResourceUpdates<Value> {
        ResourceUpdates(state: state, time: time, expiration: expiration)
    }
}
