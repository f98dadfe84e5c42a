import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension Outbox {
    /// Sends the stored requests, in order, until none is left or a request could not be sent.
    ///
    /// Requests that were stored in an environment other than the client's current one, or by a user other than the
    /// current one, are skipped.
    ///
    /// Cancelling the task does not count as a failure of the request in flight.
    ///
    /// - Returns: The time to wait before the next attempt. The value is `nil` if nothing is left to send, another task
    ///   is sending, or the task was cancelled.
    /// - Throws: ``OutboxError/file(_:)`` if the file cannot be written, or ``OutboxError/closed`` after ``close()``.
    ///   If the start of a request cannot be recorded, the request is not sent. If its end cannot be recorded, the
    ///   request is sent again with the same idempotency key.
    @discardableResult
    public func flush() async throws(OutboxError) -> Duration? {
        let mayStart = try state.withLock { (state) throws(OutboxError) in
            guard !state.isClosed else { throw .closed }
            defer { state.isSending = true }
            return !state.isSending
        }
        guard mayStart else { return nil }
        defer { endSending() }
        while !isClosed, let entry = next, !Task.isCancelled {
            guard begin(entry.id) else { continue }
            defer { settle() }
            if let pause = try await send(entry) { return pause }
        }
        return nil
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Ends sending.
    ///
    /// If the outbox has been closed in the meantime, the file is released.
    private func endSending() {
        recordTime()
        let closers: [CheckedContinuation<Void, Never>] = state.withLock { state in
            state.isSending = false
            guard state.isClosed else { return [] }
            state.file.release()
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    /// The request to handle next: the first one that belongs to the client's environment and user, or that is too old.
    var next: OutboxEntry? {
        let (place, now) = (place, client.time.now)
        return entries.first { isOne($0, of: place) || isTooOld($0, at: now) }
    }

    /// The client's environment, and the user who is logged in to it.
    private var place: (environment: ServiceEnvironment, user: String?) {
        let environment = client.environment
        return (environment, client.user(in: environment))
    }

    private func isOne(_ entry: OutboxEntry, of place: (environment: ServiceEnvironment, user: String?)) -> Bool {
        entry.belongs(to: place.environment) && entry.belongs(toUser: place.user)
    }

    private func isTooOld(_ entry: OutboxEntry, at now: MonotonicTime) -> Bool {
        let elapsed = state.withLock { state in
            state.timeline.advance(to: now)
            return state.timeline.elapsed
        }
        return elapsed - (entry.elapsed ?? 0) > options.maximumAge.inSeconds
    }

    /// Sends one request.
    ///
    /// Returns the time to wait before the next attempt, or `nil` if sending can continue.
    private func send(_ entry: OutboxEntry) async throws(OutboxError) -> Duration? {
        if !isOne(entry, of: place), isTooOld(entry, at: client.time.now) {
            try end(entry, .expired(entry))
            return nil
        }
        let turns = state.withLock { $0.turns }
        try recordStart(of: entry.id)
        let result = await answer(to: entry)
        let entry = noting(result, of: entry)
        switch result {
        case .success(let answer): return try endOrWait(entry, answer, wasSentAfter: turns)
        case .failure(let failure):
            switch failure.reason {
            case .invalidRequest, .unknownServer, .unserved:
                try end(entry, .unsendable(entry, failure))
                return nil
            case .transport(let error) where error.kind == .invalidRequest || error.kind == .unsupported:
                try end(entry, .unsendable(entry, failure))
                return nil
            case .cancelled where Task.isCancelled: return nil
            default: return postponed(entry, wasSentAfter: turns)
            }
        }
    }

    /// Records that a request is in flight before it is sent.
    ///
    /// If the app is killed, the record shows the next run that the request may have been executed. A request whose
    /// start cannot be recorded is not sent, because the next run would report that the request was not executed.
    private func recordStart(of id: OutboxEntry.ID) throws(OutboxError) {
        try state.withLock { (state) throws(OutboxError) in
            guard let index = state.entries.firstIndex(where: { $0.id == id }), state.entries[index].hasBegun != true
            else { return }
            try state.file.append(.begun(id))
            state.entries[index].hasBegun = true
        }
    }

    /// Updates `mayHaveBeenExecuted` of the request from the result of the attempt, and returns the request.
    private func noting(_ result: Result<ServiceResponse, RequestFailure>, of entry: OutboxEntry) -> OutboxEntry {
        let isOpen =
            switch result {
            case .success(let answer) where answer.status >= 300: answer.context.mayHaveTakenEffect
            case .success(let answer): answer.context.mayHaveBeenExecuted
            case .failure(let failure): failure.mayHaveBeenExecuted
            }
        return noting(mayHaveBeenExecuted: isOpen, of: entry)
    }

    private func noting(mayHaveBeenExecuted isOpen: Bool, of entry: OutboxEntry) -> OutboxEntry {
        state.withLock { state in
            var entry = entry
            entry.mayHaveBeenExecuted = entry.mayHaveBeenExecuted || isOpen
            if let index = state.entries.firstIndex(where: { $0.id == entry.id }) {
                state.entries[index].mayHaveBeenExecuted = entry.mayHaveBeenExecuted
                entry = state.entries[index]
            }
            return entry
        }
    }

    private func answer(to entry: OutboxEntry) async -> Result<ServiceResponse, RequestFailure> {
        var configuration = entry.configuration
        // The call is bound to the user of the entry, because another user may log in while the request waits for a
        // credential.
        configuration.callOwner = entry.user.map { client.callOwner(named: $0) }
        configuration = client.ruled(configuration) ?? configuration
        // The environment is checked again because the app may switch it before the request starts. A rule cannot
        // remove the check.
        configuration.interceptors.append(
            .adapting("outbox") { _, context in
                guard entry.belongs(to: context.environment) else { throw RequestFailure.Reason.cancelled }
            }
        )
        do throws(RequestFailure) {
            return .success(try await client.answer(to: configuration, id: RequestID(), progress: nil))
        } catch {
            return .failure(error)
        }
    }

    private func endOrWait(
        _ entry: OutboxEntry,
        _ answer: ServiceResponse,
        wasSentAfter turns: Int
    ) throws(OutboxError) -> Duration? {
        // If a redirect changed the method to GET, the status says nothing about the stored request.
        if answer.status < 400 || answer.turn(of: entry) != nil {
            guard options.accepts.accepts(answer, to: entry) else { return try unconfirmed(entry, answer) }
            try end(entry, .sent(entry, answer))
            return nil
        }
        let asked = RetryAfter.duration(in: answer.headers, now: date())
        switch answer.status {
        // The request went to the wrong server, a login is required, or the server failed. In none of these cases is
        // the request itself invalid.
        case 401, 407, 421, 500...:
            if try expires(entry) { return nil }
            return postponed(entry, askedFor: asked ?? .zero, wasSentAfter: answer.status == 401 ? turns : nil)
        case let status where Transience(status: status) == .transient:
            if try expires(entry) { return nil }
            return postponed(entry, askedFor: asked ?? .zero)
        // The server is still processing an earlier attempt with the same idempotency key.
        case 409 where asked != nil:
            if try expires(entry) { return nil }
            return postponed(entry, askedFor: asked ?? .zero)
        default: try end(entry, .rejected(entry, answer))
        }
        return nil
    }

    /// Drops the request if it is too old, and returns whether it was dropped.
    ///
    /// Call it only after the request's own server has responded without accepting the request.
    private func expires(_ entry: OutboxEntry) throws(OutboxError) -> Bool {
        guard isTooOld(entry, at: client.time.now) else { return false }
        try end(entry, .expired(entry))
        return true
    }

    /// Keeps a request whose response does not show that it was accepted.
    ///
    /// The request can expire only if the response certainly comes from the server of the request: over https, without
    /// redirects.
    private func unconfirmed(_ entry: OutboxEntry, _ answer: ServiceResponse) throws(OutboxError) -> Duration? {
        let entry = noting(mayHaveBeenExecuted: true, of: entry)
        let isOwn = answer.context.redirects.isEmpty && answer.context.url?.isSecure == true
        if isOwn, try expires(entry) { return nil }
        let asked = RetryAfter.duration(in: answer.headers, now: date())
        let reason = OutboxDoubt(answer, to: entry)
        return postponed(entry, askedFor: asked ?? .zero) { pause in
            .unconfirmed(entry, answer, reason: reason, pause: pause)
        }
    }

    private func end(_ entry: OutboxEntry, _ event: OutboxEvent) throws(OutboxError) {
        try remove(entry.id)
        state.withLock { state in
            state.failures = 0
            state.resumesAt = .zero
        }
        tell(event)
    }

    /// The longest `Retry-After` that is obeyed in full.
    private static var longestRetryAfter: Duration { .seconds(3_600) }

    /// Records that a request could not be sent, and returns the time to wait before the next attempt.
    ///
    /// - Parameters:
    ///   - entry: The request that could not be sent.
    ///   - requested: The time to wait that the server has asked for, of which at most an hour is waited.
    ///   - turns: The value of `State.turns` (the number of network returns and logins) when the request was sent, or
    ///     `nil` to ignore it. If the number has changed since then, the request is sent again immediately, because
    ///     neither a network return nor a login is reported again.
    ///   - event: Returns the event to report, by default ``OutboxEvent/postponed(_:pause:)``.
    /// - Returns: The time to wait, or `nil` if the request's environment or user is no longer current. Such a request
    ///   stays stored and does not delay other requests.
    private func postponed(
        _ entry: OutboxEntry,
        askedFor requested: Duration = .zero,
        wasSentAfter turns: Int? = nil,
        telling event: ((Duration) -> OutboxEvent)? = nil
    ) -> Duration? {
        guard isOne(entry, of: place) else { return nil }
        let now = client.time.now
        // A wrong date must not stop the outbox for years.
        let asked = min(requested, Self.longestRetryAfter)
        let pause = state.withLock { state in
            let hasTurned = turns.map { $0 != state.turns } ?? false
            // The pause is at most a year, because a longer pause could overflow `Duration`.
            let own = hasTurned ? .zero : min(options.pause, .seconds(31_536_000)) * (1 << state.failures)
            if !hasTurned { state.failures = min(state.failures + 1, 6) }
            let pause = max(asked, own)
            state.resumesAt = now.advanced(by: pause)
            state.requestedUntil = now.advanced(by: asked)
            return pause
        }
        tell(event?(pause) ?? .postponed(entry, pause: pause))
        return pause
    }
}
