import SwitchyardServices

extension Credentials {
    /// The slot as it was seen; what is done with it holds only while it is the same.
    ///
    /// Without those who wait: a copy of their list would make each who joins it copy it too.
    struct View {
        var credential: Credential?
        /// Who is logged in.
        var login: PresentLogin
        var version: UInt64
        var isShort: Bool
        var isBusy: Bool
        var needsLoading: Bool
        var failure: CredentialSlot.Failure?
        /// How many renewals have ended so far.
        var endings: UInt64

        /// Whether the provider was asked for another credential than the present one, and has none.
        var hasNothing: Bool { failure.map { $0.version == version && $0.error == .missing } ?? false }

        /// The failure that concerns a request which used this version, begun when so many renewals had ended.
        func failure(of version: UInt64, begunAt endings: UInt64) -> CredentialError? {
            guard let failure, failure.version == version else { return nil }
            return failure.error == .loginRequired || endings < failure.number ? failure.error : nil
        }
    }

    func view(in environment: ServiceEnvironment) -> View {
        state.withLock { $0[environment, default: CredentialSlot()].view }
    }

    /// Waits for the renewal that is under way, if it still is.
    func wait(for request: any CredentialUser) async throws(CredentialError) {
        let waiter = RenewalWaiter()
        let (isWaiting, isOverdue) = state.withLock { slots -> (Bool, Bool) in
            guard let slot = slots[request.environment], slot.isBusy else { return (false, false) }
            slots[request.environment]?.add(waiter)
            return (true, slot.isOverdue)
        }
        guard isWaiting else { return }
        // The time of those who came first is over; whoever comes later has as much.
        let time = request.core.time
        let timer =
            isOverdue
            ? time.schedule(at: time.now.advanced(by: policy.timeout)) { waiter.end(.failure(.renewalTimedOut)) } : nil
        defer { timer?.cancel() }
        try await end(of: waiter, for: request, mayHaveNothing: true)
    }

    private func end(
        of waiter: RenewalWaiter,
        for request: any CredentialUser,
        mayHaveNothing: Bool
    ) async throws(CredentialError) {
        let result = await waiter.wait()
        guard request.isRunning else { throw .loggedOut }
        if case .failure(let error) = result, !(mayHaveNothing && error == .missing) { throw error }
    }

    func load(for request: any CredentialUser) async throws(CredentialError) {
        let waiter = RenewalWaiter()
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

    /// Renews the credential that was seen, unless somebody else does or has done so, and returns whether it has.
    func renew(
        for request: any CredentialUser,
        seeing view: View,
        challenges: [AuthenticationChallenge]
    ) async throws(CredentialError) -> Bool {
        let waiter = RenewalWaiter()
        let environment = request.environment
        let now = request.core.now
        let number: UInt64? = try state.withLock { (slots) throws(CredentialError) in
            var slot = slots[environment] ?? CredentialSlot()
            guard slot.version == view.version, !slot.isBusy else { return nil }
            let number = try slot.beginRenewal(at: now, policy)
            slot.add(waiter)
            slots[environment] = slot
            return number
        }
        guard let number else { return false }
        let renewal = CredentialRenewal(
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
            guard let new = try await provider.renew(renewal) else { throw CredentialError.missing }
            return new
        }
        try await end(of: waiter, for: request, mayHaveNothing: true)
        return true
    }

    /// How many times the limit a renewal may take in all.
    private static let longestRenewal = 10

    /// Lets the provider work, for all who wait.
    ///
    /// When it takes too long those who wait are let go. What it brings later is kept all the same, since the refresh token
    /// has been spent: no other renewal begins before it has ended. One that has not ended after ten times the limit is
    /// given up.
    private func work(
        _ number: UInt64,
        for request: any CredentialUser,
        publishes: Bool = false,
        _ body: @escaping @Sendable (any CredentialProvider) async throws -> Credential?
    ) {
        let environment = request.environment
        let time = request.core.time
        let finish: @Sendable (Result<Credential?, CredentialError>) -> Bool = { [self] result in
            let isShort = publishes && isShort(result)
            let waiters = state.withLock { slots -> [RenewalWaiter]? in
                let ended = slots[environment]?.endWork(number, result, isShort: isShort, isRenewal: publishes)
                guard let waiters = ended else { return nil }
                switch result {
                case .success(let new): if publishes { tell(.renewed, keeping: new, in: environment) }
                case .failure(let error): publish(.failed(error), in: environment)
                }
                return waiters
            }
            for waiter in waiters ?? [] { waiter.end(result.map { _ in }) }
            return waiters != nil
        }
        let worker = Task { [provider] in
            let result = await CredentialBypass.$owners.withValue(CredentialBypass.owners.union([identity])) {
                await Self.outcome(isRenewal: publishes) { try await body(provider) }
            }
            _ = finish(result)
        }
        let ending = request.core.whenShutDown { worker.cancel() }
        let start = time.now
        let timers = RenewalTimers()
        timers.hold(
            time.schedule(at: start.advanced(by: policy.timeout)) { [self] in
                release(number, in: environment)
                let end = start.advanced(by: policy.timeout * Self.longestRenewal)
                timers.hold(time.schedule(at: end) { if finish(.failure(.renewalTimedOut)) { worker.cancel() } })
            }
        )
        // The timers go with the worker, whichever ends first.
        Task {
            await worker.value
            timers.end()
            ending()
        }
    }

    /// Lets those go who have waited for a renewal as long as they may.
    private func release(_ number: UInt64, in environment: ServiceEnvironment) {
        guard let waiters = state.withLock({ $0[environment]?.releaseWaiters(of: number) }) else { return }
        publish(.failed(.renewalTimedOut), in: environment)
        for waiter in waiters { waiter.end(.failure(.renewalTimedOut)) }
    }

    /// Whether what a renewal brought ends within the leeway, so that renewing it again would bring no more.
    private func isShort(_ result: Result<Credential?, CredentialError>) -> Bool {
        guard case .success(let new?) = result else { return false }
        return new.isExpired(at: clock(), leeway: policy.leeway)
    }

    /// What a provider brings; a renewal that met an outage is one, whatever the provider has made of it, unless it says
    /// itself that a login is needed.
    private static func outcome(
        isRenewal: Bool,
        of body: @Sendable () async throws -> Credential?
    ) async -> Result<Credential?, CredentialError> {
        let witness = isRenewal ? RenewalWitness() : nil
        do {
            let new = try await RenewalWitness.$current.withValue(witness) { try await body() }
            // Taken for a good one it would have every later request refused before it is sent.
            guard !isRenewal || new?.canBeSent ?? true else {
                return .failure(.unavailable(RenewalOutage(.unreadable)))
            }
            return .success(new)
        } catch CredentialError.missing {
            return .failure(witness?.last?.outage.map { .unavailable($0) } ?? .missing)
        } catch let error as CredentialError {
            return .failure(error)
        } catch {
            if let witness, let outage = RenewalOutage(thrown: error, after: witness.last) {
                return .failure(.unavailable(outage))
            }
            return .failure(.renewalFailed(Veto(name: "renewal", underlying: error)))
        }
    }
}

/// The timers of one renewal, one after the other.
private final class RenewalTimers: Sendable {
    private struct State {
        var timers: [any ScheduledTimer] = []
        var isOver = false
    }

    private let state = Locked(State())

    /// Keeps a timer until the end; behind it the timer is cancelled.
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

// MARK: - What the renewal itself sends

/// Marks the tasks that renew credentials: what they send goes without those, whichever client it is sent through.
enum CredentialBypass {
    @TaskLocal static var owners: Set<ObjectIdentifier> = []

    /// Whether the present task is renewing credentials, whichever they are.
    static var isRenewing: Bool { !owners.isEmpty }
}

extension Credentials {
    private var identity: ObjectIdentifier { ObjectIdentifier(self) }

    /// Whether the present task is renewing these credentials.
    var isBypassed: Bool { CredentialBypass.owners.contains(identity) }
}
