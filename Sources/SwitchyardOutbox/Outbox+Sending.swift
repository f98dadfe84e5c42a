import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension Outbox {
    /// Sends what waits, in order, until nothing is left or one could not be sent.
    ///
    /// What was stored in another environment than the client's, or by another user than the one who is logged in, is
    /// left alone.
    ///
    /// A cancel of the task is no failure of the write that was on its way.
    ///
    /// - Returns: How long to stay away before the next try; `nil` when nothing is left to send, another task is sending,
    ///   or the task was cancelled.
    /// - Throws: ``OutboxError/file(_:)`` when it cannot be noted that a write was sent; it will be sent again, with the
    ///   same key. ``OutboxError/closed`` behind ``close()``.
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

    /// Lets go of the file if the outbox was closed meanwhile.
    private func endSending() {
        noteTime()
        let closers: [CheckedContinuation<Void, Never>] = state.withLock { state in
            state.isSending = false
            guard state.isClosed else { return [] }
            state.file.release()
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    /// The write whose turn it is: the first of the client's environment and user, or one that is away and too old.
    var next: OutboxEntry? {
        let (place, now) = (place, client.time.now)
        return entries.first { isOne($0, of: place) || isTooOld($0, at: now) }
    }

    /// Where the client is, and who is logged in there.
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

    /// Sends one write; `nil` when it is dealt with, otherwise how long to stay away.
    private func send(_ entry: OutboxEntry) async throws(OutboxError) -> Duration? {
        if !isOne(entry, of: place), isTooOld(entry, at: client.time.now) {
            try end(entry, .expired(entry))
            return nil
        }
        let turns = state.withLock { $0.turns }
        noteBeginning(of: entry.id)
        let result = await answer(to: entry)
        let entry = noting(result, of: entry)
        switch result {
        case .success(let answer): return try endOrWait(entry, answer, wasSentAfter: turns)
        case .failure(let failure):
            switch failure.reason {
            case .invalidRequest, .unknownServer:
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

    /// Writes down that a write is on its way, before it is: should the app be ended meanwhile, the next one knows.
    ///
    /// A disk that is full is no reason not to send, and the end of the write tells of it.
    private func noteBeginning(of id: OutboxEntry.ID) {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.id == id }), state.entries[index].hasBegun != true
            else { return }
            do throws(OutboxError) {
                try state.file.append(.begun(id))
                state.entries[index].hasBegun = true
            } catch {}
        }
    }

    /// The write with what the end of an attempt says of it.
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
        // Another user may log in while the request waits for a credential.
        configuration.callOwner = entry.user.map { client.callOwner(named: $0) }
        // The app may switch between a look at the environment and the start of the request.
        configuration.interceptors = [
            .adapting("outbox") { _, context in
                guard entry.belongs(to: context.environment) else { throw RequestFailure.Reason.cancelled }
            }
        ]
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
        // A GET that a redirect has made of it may end with any status.
        if answer.status < 400 || answer.turn(of: entry) != nil {
            guard options.accepts.accepts(answer, to: entry) else { return try unconfirmed(entry, answer) }
            try end(entry, .sent(entry, answer))
            return nil
        }
        let asked = RetryAfter.duration(in: answer.headers, now: date())
        switch answer.status {
        // The server is not the right one for it, the login has run out, or the server failed: none says that the write is
        // wrong.
        case 401, 407, 421, 500...:
            if try expires(entry) { return nil }
            return postponed(entry, askedFor: asked ?? .zero, wasSentAfter: answer.status == 401 ? turns : nil)
        case let status where Transience(status: status) == .transient:
            if try expires(entry) { return nil }
            return postponed(entry, askedFor: asked ?? .zero)
        // An attempt before this one is still at work under the same key.
        case 409 where asked != nil:
            if try expires(entry) { return nil }
            return postponed(entry, askedFor: asked ?? .zero)
        default: try end(entry, .rejected(entry, answer))
        }
        return nil
    }

    /// Drops a write that is too old, behind a response of its server that did not accept it; whether it was.
    private func expires(_ entry: OutboxEntry) throws(OutboxError) -> Bool {
        guard isTooOld(entry, at: client.time.now) else { return false }
        try end(entry, .expired(entry))
        return true
    }

    /// Keeps a write whose response does not show that it was accepted.
    ///
    /// It expires only where the response is certainly the server's: nobody else answers for an https URL.
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

    /// Notes that a write could not be sent, and says when to try again.
    ///
    /// - Parameters:
    ///   - entry: The write that could not be sent.
    ///   - asked: For how long its server has asked not to be asked.
    ///   - turns: How often something had turned for the better when the write was sent; one that has found no network, or
    ///     no login, is sent again at once if that came meanwhile, since nobody will tell of it again.
    ///   - event: What is told; ``OutboxEvent/postponed(_:pause:)`` unless given.
    /// - Returns: How long to stay away; `nil` when the write's environment was left meanwhile, or its user has gone: it
    ///   waits and holds up nobody.
    private func postponed(
        _ entry: OutboxEntry,
        askedFor asked: Duration = .zero,
        wasSentAfter turns: Int? = nil,
        telling event: ((Duration) -> OutboxEvent)? = nil
    ) -> Duration? {
        guard isOne(entry, of: place) else { return nil }
        let now = client.time.now
        let pause = state.withLock { state in
            let hasTurned = turns.map { $0 != state.turns } ?? false
            // A year is as good as for ever, and more than that may be more than a duration holds.
            let own = hasTurned ? .zero : min(options.pause, .seconds(31_536_000)) * (1 << state.failures)
            if !hasTurned { state.failures = min(state.failures + 1, 6) }
            let pause = max(asked, own)
            state.resumesAt = now.advanced(by: pause)
            state.askedUntil = now.advanced(by: asked)
            return pause
        }
        tell(event?(pause) ?? .postponed(entry, pause: pause))
        return pause
    }
}
