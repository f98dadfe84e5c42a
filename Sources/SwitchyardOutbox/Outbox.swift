public import Foundation
public import SwitchyardClient
import SwitchyardServices

/// A queue of requests that must not be lost.
///
/// Each request is stored on disk first. Requests are then sent, in order, until the server has accepted them, even
/// after the app was killed and restarted.
///
///     let outbox = try Outbox(file: folder.appending(path: "outbox"), client: client)
///     let run = outbox.run(following: SystemReachability())      // sends whenever that makes sense
///     try outbox.store(.newTopic(title))
///
/// Every request carries an idempotency key, which is the same in every attempt. A server that supports such keys
/// executes the request once, even if its response was lost. If a request cannot be sent, the requests after it wait,
/// so that the order is kept.
///
/// A request is sent only to the environment in which it was stored. While the client is in another environment, the
/// request waits, and the requests of the client's environment are sent before it. If the client knows its users
/// (`NetworkClient.Options.user`), a request is sent only while the user who stored the request is logged in.
///
/// The file belongs to one outbox at a time, across all processes. It is locked until the outbox is released or
/// ``close()`` is called, and the system unlocks it if the process is killed. On Apple systems, an app that is
/// suspended while it holds a lock on a file in a shared folder, such as a folder shared with an extension, is killed
/// by the system (0xdead10cc). For such a folder, close the outbox when the app leaves the foreground. Otherwise, keep
/// the file in a folder that only the app uses.
///
/// Bodies are stored unencrypted. Credentials are not stored: a request is sent with the credentials that the client
/// has at that time. If several users use the app, tell the client the user's name or use one file per user.
public final class Outbox: Sendable {
    /// The limits and settings of an outbox.
    public struct Options: Sendable {
        /// The maximum number of stored requests, over all environments and users, 1,000 by default; a full outbox
        /// rejects further requests.
        public var maximumCount: Int
        /// The maximum age of a request, 7 days by default.
        ///
        /// A request of the current user and environment expires only after an attempt to which its server has
        /// responded. A request of another user or environment expires without an attempt.
        ///
        /// The age is a lower limit of the time since the request was stored. While the app runs, the age is measured
        /// by the monotonic clock. From one run to the next, it is measured by the wall clock, but each time at most a
        /// quarter of the maximum age is counted. A single jump of the wall clock therefore never makes a request too
        /// old.
        public var maximumAge: Duration
        /// The pause after a request that could not be sent, 5 s by default and at least 1 ms.
        ///
        /// The pause is doubled after each further failure, up to 64 times the initial pause.
        public var pause: Duration {
            didSet { pause = max(.milliseconds(1), pause) }
        }
        /// The rule that decides whether a response shows that a request was accepted, by default
        /// ``OutboxAcceptance/standard``.
        public var accepts: OutboxAcceptance

        /// Creates options.
        ///
        /// The default values are those of the properties.
        public init(
            maximumCount: Int = 1_000,
            maximumAge: Duration = .seconds(604_800),
            pause: Duration = .seconds(5),
            accepts: OutboxAcceptance = .standard
        ) {
            self.accepts = accepts
            self.maximumCount = max(0, maximumCount)
            self.maximumAge = maximumAge
            self.pause = max(.milliseconds(1), pause)
        }
    }

    struct State {
        var file: OutboxFile
        var entries: [OutboxEntry]
        var last: UInt64
        var timeline: OutboxTimeline
        var isSending = false
        /// The request that is in flight.
        var underWay: WriteUnderWay?
        var failures = 0
        /// The time until which nothing is sent automatically, because a request has failed.
        var resumesAt = MonotonicTime.zero
        /// The time until which a server has asked the client to wait (`Retry-After`).
        var requestedUntil = MonotonicTime.zero
        /// The number of times that the network has come back or a user has logged in.
        var turns = 0
        var listeners: [UInt64: AsyncStream<OutboxEvent>.Continuation] = [:]
        var wakers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var isClosed = false
        /// The callers of `close()` that wait for the request in flight.
        var closers: [CheckedContinuation<Void, Never>] = []
        var lastListener: UInt64 = 0

        /// Returns the sequence number of the next request, and throws if the file already uses the largest possible
        /// number.
        func nextID() throws(OutboxError) -> UInt64 {
            guard last < .max else { throw .file(file.description(of: "has no unused number for another write")) }
            return last + 1
        }
    }

    let client: NetworkClient
    let options: Options
    let state: Locked<State>
    let date: @Sendable () -> Date

    /// Opens an outbox with the requests in its file.
    ///
    /// An incomplete record that a crash left at the end of the file is dropped, because ``store(_:replacementKey:)``
    /// had not returned for its request.
    ///
    /// - Parameters:
    ///   - file: The file, which is created if it does not exist. Its folder must exist.
    ///   - client: The client that sends the requests. The outbox uses a scoped copy of it (`scoped()`).
    ///   - options: The limits and settings.
    ///   - date: Returns the wall clock time, see ``Options/maximumAge``.
    /// - Throws: ``OutboxError/busy`` while another outbox has the file open, ``OutboxError/file(_:)`` or
    ///   ``OutboxError/foreignFile``.
    public init(
        file: URL,
        client: NetworkClient,
        options: Options = Options(),
        date: @escaping @Sendable () -> Date = { Date() }
    ) throws(OutboxError) {
        let (file, entries) = try OutboxFile.open(file)
        self.client = client.scoped()
        self.options = options
        self.date = date
        let timeline = OutboxTimeline(file.reading, date: date(), now: client.time.now, maximumAge: options.maximumAge)
        state = Locked(State(file: file, entries: entries, last: file.last, timeline: timeline))
        recordTime()
    }

    deinit {
        endListening()
        // Tasks that have not ended yet may retain the state a little longer than the outbox exists, so the file is
        // released here.
        state.withLock { $0.file.release() }
    }

    /// Closes the outbox and releases the file, so that another outbox can open it immediately.
    ///
    /// After this call, nothing is stored or sent, and the event streams end. Unsent requests stay in the file. The
    /// function waits for a request that is in flight. If ``OutboxRun/stop()`` is called first, that request is
    /// cancelled and stays in the file too. A second call does nothing.
    public func close() async {
        recordTime()
        state.withLock { $0.isClosed = true }
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isSending { state.closers.append(continuation) } else { state.file.release() }
                return !state.isSending
            }
            if isIdle { continuation.resume() }
        }
        endListening()
    }

    private func endListening() {
        let (listeners, wakers) = state.withLock { (Array($0.listeners.values), Array($0.wakers.values)) }
        for listener in listeners { listener.finish() }
        for waker in wakers { waker.finish() }
    }

    /// The stored requests of all environments and users, in order.
    public var entries: [OutboxEntry] { state.withLock { $0.entries } }

    /// Stores a request.
    ///
    /// The request is on disk when this function returns.
    ///
    /// The parameters of the request are encoded now, with the client's options. Values that are common to all calls
    /// are added when the request is sent. If the request has a body, even a form, common parameters go into the query.
    ///
    /// - Parameters:
    ///   - configuration: The call. Its method, path, query, parameters, header fields and body are stored, with the
    ///     client's environment and the user who is logged in to it.
    ///   - key: A name for the resource that the request changes, such as `note 7`. If `nil`, no request is replaced.
    ///     Otherwise, older stored requests with the same replacement key, environment and user are dropped in the same
    ///     step, see ``OutboxEvent/replaced(_:by:)``. An older request that is in flight is not cancelled, and is
    ///     dropped if the server does not accept it.
    /// - Returns: The entry, with the idempotency key that the server will receive.
    /// - Throws: ``OutboxError``. In this case, nothing was stored.
    @discardableResult
    public func store(
        _ configuration: APIConfiguration,
        replacementKey key: String? = nil
    ) throws(OutboxError) -> OutboxEntry {
        // The clock, the body and the client's closures may run code of the app, so they are not called under the lock.
        let (environment, generator) = client.generation
        let (user, now) = (client.user(in: environment), client.time.now)
        let slot = key.map { OutboxEntry.Slot(key: $0, environment: environment.rawValue, user: user) }
        try state.withLock { (state) throws(OutboxError) in try checkRoom(in: state, for: slot) }
        let unnumbered = try OutboxEntry(
            configuration,
            id: 0,
            date: date(),
            environment: environment,
            user: user,
            replacementKey: key,
            generator: generator
        )
        let (entry, replaced) = try state.withLock { (state) throws(OutboxError) in
            try checkRoom(in: state, for: slot)
            state.timeline.advance(to: now)
            var entry = unnumbered
            entry.id = try state.nextID()
            entry.elapsed = state.timeline.elapsed
            try state.file.append(.stored(entry))
            state.last = entry.id
            let replaced = state.replace(slot, by: entry)
            state.entries.append(entry)
            return (entry, replaced)
        }
        tell(.stored(entry))
        for old in replaced { tell(.replaced(old, by: entry)) }
        wake()
        return entry
    }

    private func checkRoom(in state: State, for slot: OutboxEntry.Slot?) throws(OutboxError) {
        guard !state.isClosed else { throw .closed }
        guard state.entries.count < options.maximumCount || !state.idle(in: slot).isEmpty else {
            throw .full(limit: options.maximumCount)
        }
    }

    /// Removes a request without sending it.
    ///
    /// A request that is already in flight may still be executed.
    ///
    /// - Parameter id: The entry's number.
    /// - Returns: Whether the request was stored.
    /// - Throws: ``OutboxError/file(_:)`` or ``OutboxError/closed``. In this case, the request stays stored.
    @discardableResult
    public func remove(_ id: OutboxEntry.ID) throws(OutboxError) -> Bool {
        try state.withLock { (state) throws(OutboxError) in try state.remove(id) }
    }

    /// Writes the elapsed time to the file if enough time has passed since the last record.
    ///
    /// If the disk is full, the time is not recorded and stored requests only appear younger after a restart.
    func recordTime() {
        let (now, date) = (client.time.now, date())
        state.withLock { state in
            state.timeline.advance(to: now)
            guard let reading = state.timeline.reading(at: date, maximumAge: options.maximumAge) else { return }
            try? state.file.append(.time(reading))
            try? state.file.compact(keeping: state.lasting)
        }
    }

    /// Returns a stream of future events.
    ///
    /// The stream buffers the newest 256 events.
    public func events() -> AsyncStream<OutboxEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: OutboxEvent.self,
            bufferingPolicy: .bufferingNewest(256)
        )
        let (listener, isClosed) = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return (state.lastListener, state.isClosed)
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: listener) }
        }
        if isClosed { continuation.finish() }
        return stream
    }

    func tell(_ event: OutboxEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
    }

    func wake() {
        for waker in state.withLock({ Array($0.wakers.values) }) { waker.yield() }
    }
}

extension Outbox {
    /// Starts to send automatically.
    ///
    /// Requests are sent as soon as this method is called, when a request is stored, when the network is back, when the
    /// environment changes, when a user has logged in, and after the pause that follows a failure.
    ///
    /// A request that is stored during a pause waits until the pause is over. If the network comes back or a credential
    /// is set, the pause ends early, unless a server has asked for the pause (`Retry-After`). If the environment
    /// changes, the pause always ends. ``flush()`` ignores the pause. If the user's name changes without a credential
    /// being set, nothing is sent until `run(following:)` is called again.
    ///
    /// - Parameter provider: The source of the network's reachability. While it reports that there is no network,
    ///   nothing is sent.
    /// - Returns: An object that the caller must keep for as long as the outbox should send automatically. Its task
    ///   retains the outbox.
    public func run(following provider: (any ReachabilityProvider)? = nil) -> OutboxRun {
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isClosed) = state.withLock { state in
            state.lastListener += 1
            state.wakers[state.lastListener] = continuation
            return (state.lastListener, state.isClosed)
        }
        continuation.yield()
        if isClosed { continuation.finish() }
        let watchers = [
            watchEnvironment(continuation), watchLogin(continuation), provider.map { watch($0, continuation) },
        ].compactMap(\.self)
        let sender = Task { [self] in
            var timer: (any ScheduledTimer)?
            for await _ in wakes {
                timer?.cancel()
                if let provider, !provider.isReachable { continue }
                guard let next = await sendUnlessPaused() else { continue }
                timer = client.time.schedule(at: next) { continuation.yield() }
            }
            timer?.cancel()
            _ = state.withLock { $0.wakers.removeValue(forKey: number) }
        }
        return OutboxRun(tasks: watchers + [sender], end: { continuation.finish() })
    }

    private func watch(
        _ network: any ReachabilityProvider,
        _ wakes: AsyncStream<Void>.Continuation
    ) -> Task<Void, Never> {
        // The first update repeats this status unless the network has changed since.
        var last = network.status
        if last.isReachable { state.withLock { $0.endPause(isTurn: false) } }
        let updates = network.updates()
        return Task { [state] in
            for await status in updates {
                let hasChanged = status != last
                last = status
                guard status.isReachable else { continue }
                if hasChanged { state.withLock { $0.endPause(isTurn: true) } }
                wakes.yield()
            }
        }
    }

    /// Observes the credentials that the app sets.
    ///
    /// A refresh of the access token is not observed, because the client itself resumes a request that waits for the
    /// refresh.
    private func watchLogin(_ wakes: AsyncStream<Void>.Continuation) -> Task<Void, Never>? {
        guard let events = client.credentials?.events() else { return nil }
        return Task { [state, client] in
            for await event in events where event.kind == .set && event.environment == client.environment {
                state.withLock { $0.endPause(isTurn: true) }
                wakes.yield()
            }
        }
    }

    private func watchEnvironment(_ wakes: AsyncStream<Void>.Continuation) -> Task<Void, Never> {
        let events = client.events()
        return Task { [state] in
            for await event in events {
                guard case .environmentChanged = event.event.kind else { continue }
                state.withLock { state in
                    state.failures = 0
                    state.resumesAt = .zero
                }
                wakes.yield()
            }
        }
    }

    /// Sends the stored requests unless a pause is in effect, and returns the time of the next attempt.
    private func sendUnlessPaused() async -> MonotonicTime? {
        let resumesAt = state.withLock { $0.resumesAt }
        guard client.time.now >= resumesAt else { return resumesAt }
        return await pauseAfterFlush().map { client.time.now.advanced(by: $0) }
    }

    /// Sends the stored requests, and returns the time to wait before the next attempt.
    ///
    /// The function also returns a time to wait if the file cannot be written, or if another task is sending and may
    /// fail.
    private func pauseAfterFlush() async -> Duration? {
        do throws(OutboxError) {
            return try await flush() ?? (next == nil ? nil : options.pause)
        } catch {
            return options.pause
        }
    }
}

extension Outbox.State {
    /// Ends the pause, except for the part that a server has asked for.
    ///
    /// `isTurn` is `true` if the network has come back or a user has logged in.
    fileprivate mutating func endPause(isTurn: Bool) {
        turns += isTurn ? 1 : 0
        resumesAt = min(resumesAt, requestedUntil)
    }
}
