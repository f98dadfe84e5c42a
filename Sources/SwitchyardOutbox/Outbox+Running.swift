public import SwitchyardClient
import SwitchyardServices

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
