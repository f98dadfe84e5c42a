import Foundation
import SwitchyardServices

extension Outbox {
    /// Sends what waits, in order, until nothing is left or one could not be sent.
    ///
    /// A cancel of the task is no failure of the write that was on its way.
    ///
    /// - Returns: How long to stay away before the next try; `nil` when nothing waits any more, another task is sending,
    ///   or the task was cancelled.
    /// - Throws: ``OutboxError/file(_:)`` when it cannot be noted that a write was sent; it will be sent again, with the
    ///   same key.
    @discardableResult
    public func flush() async throws(OutboxError) -> Duration? {
        let mayStart = state.withLock { state in
            defer { state.isSending = true }
            return !state.isSending
        }
        guard mayStart else { return nil }
        defer { state.withLock { $0.isSending = false } }
        while let entry = entries.first, !Task.isCancelled {
            if let pause = try await send(entry) { return pause }
        }
        return nil
    }

    /// Sends one write; `nil` when it is dealt with, otherwise how long to stay away.
    private func send(_ entry: OutboxEntry) async throws(OutboxError) -> Duration? {
        if date().timeIntervalSince(entry.storedAt) > options.maximumAge.inSeconds {
            try settle(entry, .expired(entry))
            return nil
        }
        switch await answer(to: entry) {
        case .success(let answer): return try settleOrWait(entry, answer)
        case .failure(let failure):
            switch failure.reason {
            case .invalidRequest, .unknownServer:
                try settle(entry, .unsendable(entry, failure))
                return nil
            case .transport(let error) where error.kind == .invalidRequest || error.kind == .unsupported:
                try settle(entry, .unsendable(entry, failure))
                return nil
            case .cancelled where Task.isCancelled: return nil
            default: return postponed(entry, at: nil)
            }
        }
    }

    private func answer(to entry: OutboxEntry) async -> Result<ServiceResponse, RequestFailure> {
        do throws(RequestFailure) {
            return .success(try await client.send(entry.configuration))
        } catch {
            return .failure(error)
        }
    }

    private func settleOrWait(_ entry: OutboxEntry, _ answer: ServiceResponse) throws(OutboxError) -> Duration? {
        switch answer.status {
        // 303 leads from what was done to its outcome (RFC 9110 section 15.4.4).
        case 200..<300, 303: try settle(entry, .sent(entry, answer))
        // What may pass: the server is busy or out of order, the login has run out.
        case 401, 407, 408, 425, 429, 500...:
            return postponed(entry, at: RetryAfter.duration(in: answer.headers, now: date()))
        default: try settle(entry, .rejected(entry, answer))
        }
        return nil
    }

    private func settle(_ entry: OutboxEntry, _ event: OutboxEvent) throws(OutboxError) {
        try remove(entry.id)
        state.withLock { state in
            state.failures = 0
            state.resumesAt = .zero
        }
        tell(event)
    }

    private func postponed(_ entry: OutboxEntry, at asked: Duration?) -> Duration {
        let failures = state.withLock { state in
            defer { state.failures = min(state.failures + 1, 6) }
            return state.failures
        }
        // A year is as good as for ever, and more than that may be more than a duration holds.
        let pause = max(asked ?? .zero, min(options.pause, .seconds(31_536_000)) * (1 << failures))
        let now = client.time.now
        state.withLock { state in
            state.resumesAt = now.advanced(by: pause)
            state.askedUntil = now.advanced(by: asked ?? .zero)
        }
        tell(.postponed(entry, pause: pause))
        return pause
    }
}

// MARK: - By itself

extension Outbox {
    /// Sends whenever that makes sense: now, when a write is stored, when the network is back, and after a pause when
    /// something could not be sent.
    ///
    /// A write that is stored during a pause waits for its end. The network's return ends it, unless a server has asked
    /// for it (`Retry-After`); ``flush()`` heeds no pause.
    ///
    /// - Parameter provider: Knows the network; while it says that there is none nothing is tried.
    /// - Returns: Keep it as long as the outbox is to send by itself; its task holds the outbox.
    public func run(following provider: (any ReachabilityProvider)? = nil) -> OutboxRun {
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastListener += 1
            state.wakers[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.yield()
        let network = provider.map { provider in
            let updates = provider.updates()
            return Task { [state] in
                for await status in updates where status.isReachable {
                    state.withLock { $0.resumesAt = min($0.resumesAt, $0.askedUntil) }
                    continuation.yield()
                }
            }
        }
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
        return OutboxRun(sender: sender, network: network, end: { continuation.finish() })
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
            return try await flush() ?? (entries.isEmpty ? nil : options.pause)
        } catch {
            return options.pause
        }
    }
}

/// An ``Outbox`` that sends by itself, until this object goes.
public final class OutboxRun: Sendable {
    private let sender: Task<Void, Never>
    private let network: Task<Void, Never>?
    private let end: @Sendable () -> Void

    init(sender: Task<Void, Never>, network: Task<Void, Never>?, end: @escaping @Sendable () -> Void) {
        self.sender = sender
        self.network = network
        self.end = end
    }

    deinit {
        stop()
    }

    /// Stops sending; a write that is on its way is cancelled and stays stored.
    public func stop() {
        end()
        sender.cancel()
        network?.cancel()
    }
}
