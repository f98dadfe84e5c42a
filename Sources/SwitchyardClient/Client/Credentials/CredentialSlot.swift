import SwitchyardServices

/// The credential of one environment and the refresh in progress, as a pure state machine.
struct CredentialSlot {
    /// A failed refresh.
    struct Failure {
        var version: UInt64
        var error: CredentialError
        /// The number of refreshes that had ended when this one ended, counted from 1.
        var number: UInt64
    }

    private(set) var credential: Credential?
    private(set) var version: UInt64 = 0
    /// The number of times the user may have changed.
    private(set) var userChanges: UInt64 = 0
    /// The number of the login, which distinguishes users without a name.
    private var number: UInt64 = 0
    private var logOuts: UInt64 = 0
    private var isLoaded = false
    /// Whether the credential was already close to its expiry when it was obtained.
    private var isShort = false
    private var failure: Failure?
    private var endings: UInt64 = 0
    private var refreshes: [MonotonicTime] = []
    private var worker: UInt64?
    /// Whether the refresh in progress takes longer than its first waiters could wait.
    private(set) var isOverdue = false
    private var lastWorker: UInt64 = 0
    private(set) var waiters: [RefreshWaiter] = []

    /// Sets a credential from outside, and returns the waiters, which continue with the new credential.
    ///
    /// A different credential counts as that of another user, unless `isSameUser` is `true`.
    mutating func replace(with credential: Credential?, isSameUser: Bool) -> [RefreshWaiter] {
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
        refreshes = []
        defer { waiters = [] }
        return waiters
    }

    /// The current login.
    var login: PresentLogin { PresentLogin(number: number, logOuts: logOuts, credential: credential) }

    /// Whether a credential of an earlier launch may be restored, because no user has logged in or out since this
    /// launch.
    var isOfLastRun: Bool { !isLoaded || credential == nil && number == 0 }

    /// Removes the last refresh from the count, because its credential was valid when it was used.
    mutating func discountRefresh() {
        if !refreshes.isEmpty { refreshes.removeLast() }
    }

    /// Counts a change of user once more after all observers have been notified.
    ///
    /// Objects that were created in between, from data that had not been removed yet, therefore do not count as the new
    /// user's.
    mutating func countUserChangeAfterNotification() {
        userChanges += 1
    }

    /// Whether a credential is being loaded or refreshed.
    var isBusy: Bool { worker != nil }

    /// Whether the provider has not been asked for a stored credential yet.
    var needsLoading: Bool { !isLoaded }

    /// A snapshot of the slot for requests.
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

    /// Starts a refresh and returns its number.
    ///
    /// - Throws: ``CredentialError/tooManyRefreshes(limit:)``.
    mutating func beginRefresh(at now: MonotonicTime, _ policy: Credentials.Policy) throws(CredentialError) -> UInt64 {
        refreshes.removeAll { $0.duration(to: now) >= policy.window }
        guard refreshes.count < policy.refreshes else { throw .tooManyRefreshes(limit: policy.refreshes) }
        refreshes.append(now)
        return beginWork()
    }

    /// Starts loading or refreshing the credential, and returns the number of this work.
    mutating func beginWork() -> UInt64 {
        lastWorker += 1
        worker = lastWorker
        return lastWorker
    }

    private mutating func leaveWork() {
        (worker, isOverdue) = (nil, false)
    }

    /// Returns the waiters whose time is up, while the refresh continues because its result is still needed.
    mutating func releaseWaiters(of number: UInt64) -> [RefreshWaiter]? {
        guard worker == number else { return nil }
        isOverdue = true
        endings += 1
        failure = Failure(version: version, error: .refreshTimedOut, number: endings)
        defer { waiters = [] }
        return waiters
    }

    /// Adds a waiter.
    mutating func add(_ waiter: RefreshWaiter) {
        waiters.append(waiter)
    }

    /// Ends the work and returns the waiters, or `nil` if a credential was set meanwhile, which makes the result
    /// obsolete.
    ///
    /// `isShort` is `true` if the credential expires within the leeway.
    mutating func endWork(
        _ number: UInt64,
        _ result: Result<Credential?, CredentialError>,
        isShort: Bool,
        isRefresh: Bool
    ) -> [RefreshWaiter]? {
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
            // The limit exists for credentials that are refused again and again. A transient outage, or a refresh
            // without a credential, must not use it up.
            if isRefresh, error.outage != nil || error == .missing && credential == nil { discountRefresh() }
        }
        defer { waiters = [] }
        return waiters
    }
}

/// The credential that a request carries, and its version, so that a 401 counts only against this credential.
struct CredentialLease: Sendable {
    var credential: Credential?
    /// The login that the credential belongs to, or `nil` for the call's own credential.
    var login: PresentLogin?
    var version: UInt64
    /// The number of refreshes that had ended when the lease was taken.
    var takenAt: UInt64
}

/// A request that waits for the result of a refresh.
typealias RefreshWaiter = Waiter<Result<Void, CredentialError>>
