public import Foundation
public import SwitchyardClient
import SwitchyardServices

/// Writes that must not be lost: each is on the disk before it is sent, and is sent, in order, until the server has taken
/// it, also after the app was killed and started again.
///
///     let outbox = try Outbox(file: folder.appending(path: "outbox"), client: client)
///     let run = outbox.run(following: SystemReachability())      // sends whenever that makes sense
///     try outbox.store(.newTopic(title))
///
/// Every write carries an idempotency key, the same in every attempt: a server that knows such keys takes it once, even
/// if its answer was lost. Whoever is behind one that cannot be sent waits, so that the order holds.
///
/// A write goes to the environment that it was stored in: while the client is in another one it waits, and those of that
/// one pass it by. Just so it waits for its user, where the client knows of users (`NetworkClient.Options.user`).
///
/// The file belongs to one outbox at a time, of this process or another: it is locked as long as the outbox lives, or until
/// ``close()``, and a process that is killed lets go of it. On Apple systems an app that is suspended while it has a locked
/// file in a folder that it shares, as with an extension, is ended by the system (0xdead10cc): close the outbox there when
/// the app leaves the foreground, or keep its file in a folder of the app's own.
///
/// Bodies are stored as they are; credentials are not stored. A write goes with those that the client has when it is
/// sent: where users take turns, name them to the client, or give each a file.
public final class Outbox: Sendable {
    /// What an outbox allows.
    public struct Options: Sendable {
        /// How many writes may wait, in all environments and of all users; 1,000 unless set.
        public var maximumCount: Int
        /// How old a write may become; 7 days unless set.
        ///
        /// A write expires behind an attempt that its server has answered, so never before one. A write whose user or
        /// environment is away expires without an attempt.
        ///
        /// The age is the time that has certainly passed: by the monotonic clock while the app runs, and by the wall clock
        /// from one run to the next, at most a quarter of the maximum each time. No jump of the wall clock makes a write
        /// too old.
        public var maximumAge: Duration
        /// The pause after a write could not be sent; doubled each time, up to 64-fold.
        ///
        /// 5 seconds unless set, at least 1 ms.
        public var pause: Duration {
            didSet { pause = max(.milliseconds(1), pause) }
        }
        /// What the response to an accepted write looks like; ``OutboxAcceptance/standard`` unless set.
        public var accepts: OutboxAcceptance

        /// Creates options.
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
        /// The write that is on its way.
        var underWay: WriteUnderWay?
        var failures = 0
        /// Until when nothing is sent by itself, after a failure.
        var resumesAt = MonotonicTime.zero
        /// Until when a server has asked not to be asked.
        var askedUntil = MonotonicTime.zero
        /// How often something has turned for the better: the network has come back, or somebody has logged in.
        var turns = 0
        var listeners: [UInt64: AsyncStream<OutboxEvent>.Continuation] = [:]
        var wakers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var isClosed = false
        /// Those who wait for the write that is on its way.
        var closers: [CheckedContinuation<Void, Never>] = []
        var lastListener: UInt64 = 0

        /// The number of the next write; there is none when a file says that the last one is taken.
        func nextID() throws(OutboxError) -> UInt64 {
            guard last < .max else { throw .file(file.description(of: "has no number left for another write")) }
            return last + 1
        }
    }

    let client: NetworkClient
    let options: Options
    let state: Locked<State>
    let date: @Sendable () -> Date

    /// Opens an outbox, with what waits in its file.
    ///
    /// What a crash left unfinished at the end of the file is dropped: it had not been stored.
    ///
    /// - Parameters:
    ///   - file: The file; it is made if it is missing. Its folder must exist.
    ///   - client: Sends the writes; a scope of it is taken.
    ///   - options: Limits of count and age.
    ///   - date: The wall clock: see ``Options/maximumAge``.
    /// - Throws: ``OutboxError/busy`` while another outbox has the file, ``OutboxError/file(_:)`` or
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
        noteTime()
    }

    deinit {
        endListening()
        // Tasks that still end may hold the state a little longer.
        state.withLock { $0.file.release() }
    }

    /// Lets go of the file, so that another outbox can open it at once: nothing more is stored or sent, and the events end.
    ///
    /// What waits stays in the file. A write that is on its way is waited for; ``OutboxRun/stop()`` before this cancels it,
    /// and then it waits too. A second call does nothing.
    public func close() async {
        noteTime()
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

    /// The writes that wait, in order: in all environments, and of all users.
    public var entries: [OutboxEntry] { state.withLock { $0.entries } }

    /// Stores a write; it is on the disk when this returns.
    ///
    /// Its parameters are written now, by the client's options. What all calls have in common is added when it is sent;
    /// common parameters go into the query of a write that has a body, be it a form.
    ///
    /// - Parameters:
    ///   - configuration: The call. Method, path, query, parameters, header fields and body are stored, and the
    ///     environment that the client is in with the user who is logged in there.
    ///   - key: Names what the write is about, as `note 7`. An older write with the same key, of the same environment and
    ///     user, is dropped in the same step: see ``OutboxEvent/replaced(_:by:)``. One that is on its way is let go to its
    ///     end, and dropped if the server has not accepted it. No write is replaced unless a key is given.
    /// - Returns: The entry, whose key the server will see.
    /// - Throws: ``OutboxError``; then nothing was stored.
    @discardableResult
    public func store(
        _ configuration: APIConfiguration,
        replacementKey key: String? = nil
    ) throws(OutboxError) -> OutboxEntry {
        // The clock, the body and what the client puts into requests may be code of the app's: not under the lock.
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

    /// Takes a write out without sending it; one that is being sent may arrive all the same.
    ///
    /// - Parameter id: The entry's number.
    /// - Returns: Whether it was there.
    /// - Throws: ``OutboxError/file(_:)`` or ``OutboxError/closed``; then it waits on.
    @discardableResult
    public func remove(_ id: OutboxEntry.ID) throws(OutboxError) -> Bool {
        try state.withLock { (state) throws(OutboxError) in
            guard let index = state.entries.firstIndex(where: { $0.id == id }) else { return false }
            try state.file.append(.done(id))
            state.entries.remove(at: index)
            // The write is out already, and a file that is longer than it need be can be cleared up by the next.
            try? state.file.compact(keeping: state.lasting)
            return true
        }
    }

    /// Writes down how much time has passed, if that is worth it; a disk that is full only makes writes younger.
    func noteTime() {
        let (now, date) = (client.time.now, date())
        state.withLock { state in
            state.timeline.advance(to: now)
            guard let reading = state.timeline.reading(at: date, maximumAge: options.maximumAge) else { return }
            try? state.file.append(.time(reading))
            try? state.file.compact(keeping: state.lasting)
        }
    }

    /// What happens to the writes from now on; the newest 256 events are kept for a reader that is slow.
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
    /// Sends whenever that makes sense: now, when a write is stored, when the network is back, when another environment
    /// is entered, when somebody has logged in, and after a pause when something could not be sent.
    ///
    /// A write that is stored during a pause waits for its end. The network's return ends it, and so does a credential that
    /// is set, unless a server has asked for it (`Retry-After`); another environment has no part in it, and ``flush()``
    /// heeds no pause. A user's name that changes without a credential that is set, be it that there is none to set,
    /// wakes nobody: begin the run anew then.
    ///
    /// - Parameter provider: Knows the network; while it says that there is none nothing is tried.
    /// - Returns: Keep it as long as the outbox is to send by itself; its task holds the outbox.
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
        let updates = network.updates()
        return Task { [state] in
            var isNews = false  // What comes first is how it has been.
            for await status in updates {
                defer { isNews = true }
                guard status.isReachable else { continue }
                state.withLock { $0.endPause(isTurn: isNews) }
                wakes.yield()
            }
        }
    }

    /// Hears of credentials that are set from outside; of renewed ones a write that asked for them hears by itself.
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

    /// Sends unless a pause lasts; when to try again.
    private func sendUnlessPaused() async -> MonotonicTime? {
        let resumesAt = state.withLock { $0.resumesAt }
        guard client.time.now >= resumesAt else { return resumesAt }
        return await pauseAfterFlush().map { client.time.now.advanced(by: $0) }
    }

    /// Sends, and says when to try again; a disk that cannot be written to is a reason to wait too, and so is another
    /// task that sends, since it may fail.
    private func pauseAfterFlush() async -> Duration? {
        do throws(OutboxError) {
            return try await flush() ?? (next == nil ? nil : options.pause)
        } catch {
            return options.pause
        }
    }
}

extension Outbox.State {
    /// Ends the pause, but for what a server has asked for.
    fileprivate mutating func endPause(isTurn: Bool) {
        turns += isTurn ? 1 : 0
        resumesAt = min(resumesAt, askedUntil)
    }
}

/// An ``Outbox`` that sends by itself, until this object goes.
public final class OutboxRun: Sendable {
    private let tasks: [Task<Void, Never>]
    private let end: @Sendable () -> Void

    init(tasks: [Task<Void, Never>], end: @escaping @Sendable () -> Void) {
        self.tasks = tasks
        self.end = end
    }

    deinit {
        stop()
    }

    /// Stops sending; a write that is on its way is cancelled and stays stored.
    public func stop() {
        end()
        for task in tasks { task.cancel() }
    }
}
