import Foundation
import SwitchyardServices

extension Credentials {
    /// A snapshot of a ``CredentialSlot``, valid only while the slot is unchanged.
    ///
    /// The snapshot does not contain the list of waiters. If it did, every new waiter would cause a copy of the list.
    struct View {
        var credential: Credential?
        /// The current login.
        var login: PresentLogin
        var version: UInt64
        var isShort: Bool
        var ignoresExpiry: Bool
        var isBusy: Bool
        var needsLoading: Bool
        var failure: CredentialSlot.Failure?
        /// The number of refreshes that have ended so far.
        var endings: UInt64

        /// Whether a refresh of the current credential has ended without a new credential.
        var hasNothing: Bool { failure.map { $0.version == version && $0.error == .missing } ?? false }

        /// Returns whether there is a credential that can be sent and has not expired, or whose expiry is ignored.
        func hasUsableCredential(at date: Date, leeway: Duration) -> Bool {
            guard let credential, credential.canBeSent else { return false }
            return ignoresExpiry || !credential.isExpired(at: date, leeway: leeway)
        }

        /// Returns the failure of the last refresh if that failure applies to a request.
        ///
        /// The failure applies if the request used this version of the credential and started before the refresh
        /// failed. ``CredentialError/loginRequired`` applies to later requests too. `endings` is the number of
        /// refreshes that had ended when the request started.
        func failure(of version: UInt64, begunAt endings: UInt64) -> CredentialError? {
            guard let failure, failure.version == version else { return nil }
            return failure.error == .loginRequired || endings < failure.number ? failure.error : nil
        }
    }

    func view(in environment: ServiceEnvironment) -> View {
        state.withLock { $0[environment, default: CredentialSlot()].view }
    }

    /// Waits for the refresh in progress, or returns immediately if there is none.
    func wait(for request: any CredentialUser) async throws(CredentialError) {
        let waiter = RefreshWaiter()
        let (isWaiting, isOverdue) = state.withLock { slots -> (Bool, Bool) in
            guard let slot = slots[request.environment], slot.isBusy else { return (false, false) }
            slots[request.environment]?.add(waiter)
            return (true, slot.isOverdue)
        }
        guard isWaiting else { return }
        // The timeout of the first waiters has passed. A request that starts to wait now gets a timeout of its own.
        let time = request.core.time
        let timer =
            isOverdue
            ? time.schedule(at: time.now.advanced(by: policy.timeout)) {
                waiter.resume(returning: .failure(.refreshTimedOut))
            } : nil
        defer { timer?.cancel() }
        try await end(of: waiter, for: request, mayHaveNothing: true)
    }

    private func end(
        of waiter: RefreshWaiter,
        for request: any CredentialUser,
        mayHaveNothing: Bool
    ) async throws(CredentialError) {
        // If the request is cancelled, the wait ends immediately, and the code below finds that the request has ended.
        let result = await waiter.outcome { .success(()) }
        guard request.isRunning else { throw .loggedOut }
        if case .failure(let error) = result, !(mayHaveNothing && error == .missing) { throw error }
    }

    func load(for request: any CredentialUser) async throws(CredentialError) {
        let waiter = RefreshWaiter()
        let environment = request.environment
        let number: UInt64? = state.withLock { slots in
            var slot = slots[environment] ?? CredentialSlot()
            defer { slots[environment] = slot }
            guard slot.needsLoading, !slot.isBusy else { return nil }
            slot.add(waiter)
            return slot.beginWork()
        }
        guard let number else { return }
        work(number, for: request) { provider in try await provider.storedCredential(in: environment) }
        try await end(of: waiter, for: request, mayHaveNothing: false)
    }

    /// Refreshes the credential of the snapshot.
    ///
    /// - Returns: `false` if another request is refreshing or has already refreshed the credential.
    func refresh(
        for request: any CredentialUser,
        seeing view: View,
        challenges: [AuthenticationChallenge]
    ) async throws(CredentialError) -> Bool {
        let waiter = RefreshWaiter()
        let environment = request.environment
        let now = request.core.now
        let number: UInt64? = try state.withLock { (slots) throws(CredentialError) in
            var slot = slots[environment] ?? CredentialSlot()
            guard slot.version == view.version, !slot.isBusy else { return nil }
            let number = try slot.beginRefresh(at: now, policy)
            slot.add(waiter)
            slots[environment] = slot
            return number
        }
        guard let number else { return false }
        let refresh = CredentialRefresh(
            credential: view.credential,
            environment: environment,
            challenges: challenges,
            client: NetworkClient(
                core: request.core,
                isRoot: false,
                usesCredentials: false,
                boundTo: request.pool
            )
        )
        work(number, for: request, publishes: true) { provider in
            guard let new = try await provider.refresh(refresh) else { throw CredentialError.missing }
            return new
        }
        try await end(of: waiter, for: request, mayHaveNothing: true)
        return true
    }

    /// The maximum duration of a refresh, in multiples of the policy's timeout.
    private static let longestRefresh = 10

    /// Runs the provider on behalf of all waiters.
    ///
    /// If the provider exceeds the timeout, the waiters fail. A credential that the provider returns later is still
    /// stored, because the server has already used up the refresh token. No other refresh starts before this refresh
    /// has ended. A refresh that has not ended after ten times the timeout is cancelled.
    private func work(
        _ number: UInt64,
        for request: any CredentialUser,
        publishes: Bool = false,
        _ body: @escaping @Sendable (any CredentialProvider) async throws -> Credential?
    ) {
        let environment = request.environment
        let time = request.core.time
        let finish: @Sendable (Result<Credential?, CredentialError>) -> Bool = { [self] result in
            let isShort = publishes && hasExpired(result, leeway: policy.leeway)
            let isExpired = publishes && hasExpired(result)
            let waiters = state.withLock { slots -> [RefreshWaiter]? in
                let ended = slots[environment]?
                    .endWork(number, result, isShort: isShort, isExpired: isExpired, isRefresh: publishes)
                guard let waiters = ended else { return nil }
                switch result {
                case .success(let new): if publishes { tell(.refreshed, keeping: new, in: environment) }
                case .failure(let error): publish(.failed(error), in: environment)
                }
                return waiters
            }
            for waiter in waiters ?? [] { waiter.resume(returning: result.map { _ in }) }
            return waiters != nil
        }
        let worker = Task { [provider] in
            let result = await CredentialBypass.$owners.withValue(CredentialBypass.owners.union([identity])) {
                await Self.outcome(isRefresh: publishes) { try await body(provider) }
            }
            _ = finish(result)
        }
        let ending = request.core.whenShutDown { worker.cancel() }
        let start = time.now
        let timers = RefreshTimers()
        timers.hold(
            time.schedule(at: start.advanced(by: policy.timeout)) { [self] in
                release(number, in: environment)
                let end = start.advanced(by: policy.timeout * Self.longestRefresh)
                timers.hold(time.schedule(at: end) { if finish(.failure(.refreshTimedOut)) { worker.cancel() } })
            }
        )
        // The timers and the shutdown action are removed when the worker ends.
        Task {
            await worker.value
            timers.end()
            ending()
        }
    }

    /// Resumes the waiters whose timeout has passed.
    private func release(_ number: UInt64, in environment: ServiceEnvironment) {
        guard let waiters = state.withLock({ $0[environment]?.releaseWaiters(of: number) }) else { return }
        publish(.failed(.refreshTimedOut), in: environment)
        for waiter in waiters { waiter.resume(returning: .failure(.refreshTimedOut)) }
    }

    /// Returns whether the new credential has expired or will expire within the leeway.
    private func hasExpired(_ result: Result<Credential?, CredentialError>, leeway: Duration = .zero) -> Bool {
        guard case .success(let new?) = result else { return false }
        return new.isExpired(at: clock(), leeway: leeway)
    }

    /// Converts what the provider returned or threw into the result for the waiters.
    ///
    /// If a request sent by the refresh failed because of an outage, the result is that outage, whatever the provider
    /// returns or throws. The only exception is a ``CredentialError`` other than ``CredentialError/missing``.
    private static func outcome(
        isRefresh: Bool,
        of body: @Sendable () async throws -> Credential?
    ) async -> Result<Credential?, CredentialError> {
        let recorder = isRefresh ? RefreshRecorder() : nil
        do {
            let new = try await RefreshRecorder.$current.withValue(recorder) { try await body() }
            // No header field can hold this credential. If it were accepted, every later request would fail before it
            // is sent.
            guard !isRefresh || new?.canBeSent ?? true else {
                return .failure(.unavailable(TokenRefreshFailure(.unreadable)))
            }
            return .success(new)
        } catch CredentialError.missing {
            return .failure(recorder?.last?.outage.map { .unavailable($0) } ?? .missing)
        } catch let error as CredentialError {
            return .failure(error)
        } catch {
            if let recorder, let outage = TokenRefreshFailure(thrown: error, after: recorder.last) {
                return .failure(.unavailable(outage))
            }
            return .failure(.refreshFailed(InterceptorError(name: "refresh", underlying: error)))
        }
    }
}

/// The timers of one refresh, which run one after the other.
private final class RefreshTimers: Sendable {
    private struct State {
        var timers: [any ScheduledTimer] = []
        var isOver = false
    }

    private let state = Locked(State())

    /// Stores a timer until the end of the refresh, or cancels the timer if the refresh has ended.
    func hold(_ timer: any ScheduledTimer) {
        let isOver = state.withLock { state in
            if !state.isOver { state.timers.append(timer) }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    /// Cancels the timers.
    func end() {
        let timers = state.withLock { state in
            state.isOver = true
            defer { state.timers = [] }
            return state.timers
        }
        for timer in timers { timer.cancel() }
    }
}

// MARK: - Requests of the refresh itself

/// Identifies the tasks that refresh credentials.
///
/// Requests from these tasks omit the credentials, whatever client sends them.
enum CredentialBypass {
    @TaskLocal static var owners: Set<ObjectIdentifier> = []

    /// Whether the current task refreshes any credentials.
    static var isRefreshing: Bool { !owners.isEmpty }
}

extension Credentials {
    private var identity: ObjectIdentifier { ObjectIdentifier(self) }

    /// Whether the current task refreshes these credentials.
    var isBypassed: Bool { CredentialBypass.owners.contains(identity) }
}
