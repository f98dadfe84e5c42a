import SwitchyardServices

/// The credential of one environment, and the renewal that is under way: a pure state machine.
struct CredentialSlot {
    /// A renewal that failed.
    struct Failure {
        var version: UInt64
        var error: CredentialError
        /// The number of the ending, counted from 1.
        var number: UInt64
    }

    private(set) var credential: Credential?
    private(set) var version: UInt64 = 0
    /// How often another user may have taken the place of the one before.
    private(set) var userChanges: UInt64 = 0
    /// The number of the login, which tells one user without a name from the next.
    private var number: UInt64 = 0
    private var logOuts: UInt64 = 0
    private var isLoaded = false
    /// Whether the credential was close to its end already when it was got.
    private var isShort = false
    private var failure: Failure?
    private var endings: UInt64 = 0
    private var renewals: [MonotonicTime] = []
    private var worker: UInt64?
    /// Whether the work takes longer than those who waited for it could.
    private(set) var isOverdue = false
    private var lastWorker: UInt64 = 0
    private(set) var waiters: [RenewalWaiter] = []

    /// Sets the credential from outside; whoever waits is handed back and goes on with it.
    ///
    /// One that differs is another user's, unless it is said to be that of the same user.
    mutating func replace(with credential: Credential?, isSameUser: Bool) -> [RenewalWaiter] {
        if credential == nil || !isSameUser && self.credential != credential {
            userChanges += 1
            number += 1
        }
        if credential == nil { logOuts += 1 }
        self.credential = credential
        version += 1
        isLoaded = true
        isShort = false
        failure = nil
        leaveWork()
        renewals = []
        defer { waiters = [] }
        return waiters
    }

    /// Who is logged in.
    var login: PresentLogin { PresentLogin(number: number, logOuts: logOuts, credential: credential) }

    /// Whether the credential may be that of the last run: nobody has logged in or out in this one.
    var isOfLastRun: Bool { !isLoaded || credential == nil && number == 0 }

    /// Takes back a renewal from the count: what it brought was good when it was needed.
    mutating func forgiveRenewal() {
        if !renewals.isEmpty { renewals.removeLast() }
    }

    /// Counts a change of user once more, when all who watch have heard of it: what was made in between, of things that
    /// were not removed yet, is not the new user's.
    mutating func noteUserChangeTold() {
        userChanges += 1
    }

    /// Whether somebody is getting a credential.
    var isBusy: Bool { worker != nil }

    /// Whether the provider has been asked for a stored credential.
    var needsLoading: Bool { !isLoaded }

    /// What a request may look at.
    var view: Credentials.View {
        Credentials.View(
            credential: credential,
            login: login,
            version: version,
            isShort: isShort,
            isBusy: isBusy,
            needsLoading: needsLoading,
            failure: failure,
            endings: endings
        )
    }

    /// Makes the caller the one who gets a credential.
    ///
    /// - Throws: ``CredentialError/excessiveRenewal(limit:)``.
    mutating func beginRenewal(at now: MonotonicTime, _ policy: Credentials.Policy) throws(CredentialError) -> UInt64 {
        renewals.removeAll { $0.duration(to: now) >= policy.window }
        guard renewals.count < policy.renewals else { throw .excessiveRenewal(limit: policy.renewals) }
        renewals.append(now)
        return beginWork()
    }

    /// Makes the caller the one who asks for the stored credential.
    mutating func beginWork() -> UInt64 {
        lastWorker += 1
        worker = lastWorker
        return lastWorker
    }

    private mutating func leaveWork() {
        (worker, isOverdue) = (nil, false)
    }

    /// Lets those go who have waited as long as they may; the work goes on, for what it brings is still wanted.
    mutating func releaseWaiters(of number: UInt64) -> [RenewalWaiter]? {
        guard worker == number else { return nil }
        isOverdue = true
        endings += 1
        failure = Failure(version: version, error: .renewalTimedOut, number: endings)
        defer { waiters = [] }
        return waiters
    }

    /// Adds a request that waits.
    mutating func add(_ waiter: RenewalWaiter) {
        waiters.append(waiter)
    }

    /// Takes the end of the work; `nil` when somebody has set a credential meanwhile, and the work is for nothing.
    ///
    /// A short credential is one that ends before others would be renewed.
    mutating func endWork(
        _ number: UInt64,
        _ result: Result<Credential?, CredentialError>,
        isShort: Bool,
        isRenewal: Bool
    ) -> [RenewalWaiter]? {
        guard worker == number else { return nil }
        leaveWork()
        endings += 1
        switch result {
        case .success(let new):
            isLoaded = true
            failure = nil
            if let new {
                credential = new
                version += 1
                self.isShort = isShort
            }
        case .failure(let error):
            failure = Failure(version: version, error: error, number: endings)
            // The limit is against credentials that are refused again and again, and no reason to stay out when the
            // weather has cleared up, or when there was nobody to renew anything for.
            if isRenewal, error.outage != nil || error == .missing && credential == nil { forgiveRenewal() }
        }
        defer { waiters = [] }
        return waiters
    }
}

/// The credential with which a request goes, and its number: a refusal is held against that one only.
struct CredentialLease: Sendable {
    var credential: Credential?
    /// Whose it is; nobody's in particular for a credential of the call's own.
    var login: PresentLogin?
    var version: UInt64
    /// How many renewals had ended when it was taken.
    var takenAt: UInt64
}

/// A request that waits for a credential; resumed once, by the renewal or because the request has ended.
final class RenewalWaiter: Sendable {
    private enum State {
        case empty
        case waiting(UnsafeContinuation<Result<Void, CredentialError>, Never>)
        case ended(Result<Void, CredentialError>)
    }

    private let state = Locked(State.empty)

    /// Waits for the end; a request that is cancelled goes on at once, to find that it has ended.
    func wait() async -> Result<Void, CredentialError> {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let ended: Result<Void, CredentialError>? = state.withLock { state in
                    if case .ended(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let ended { continuation.resume(returning: ended) }
            }
        } onCancel: {
            end(.success(()))
        }
    }

    /// Lets the request go on.
    func end(_ result: Result<Void, CredentialError>) {
        let continuation: UnsafeContinuation<Result<Void, CredentialError>, Never>? = state.withLock { state in
            if case .ended = state { return nil }
            defer { state = .ended(result) }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(returning: result)
    }
}
