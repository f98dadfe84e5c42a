import SwitchyardServices

/// The credential of one environment and the refresh in progress, as a pure state machine.
struct CredentialSlot {
    /// A failed refresh.
    struct Failure {
        var version: UInt64
        var error: CredentialError
        /// The position of this refresh among the refreshes that have ended, counted from 1.
        var number: UInt64
    }

    private(set) var credential: Credential?
    private(set) var version: UInt64 = 0
    /// The number of times that the user may have changed: at every logout and whenever a different credential was set.
    private(set) var userChanges: UInt64 = 0
    /// A number that identifies the login.
    ///
    /// The number distinguishes users whose names are unknown.
    private var number: UInt64 = 0
    private var logOuts: UInt64 = 0
    private var isLoaded = false
    /// Whether the credential was already close to its expiry when it was obtained.
    private var isShort = false
    /// Whether the credential is used although its expiry date has passed.
    ///
    /// The value is `true` if a refresh returned a new credential that had already expired. The device's clock is
    /// probably wrong, so the server decides whether the credential is valid.
    private var ignoresExpiry = false
    private var failure: Failure?
    private var endings: UInt64 = 0
    private var refreshes: [MonotonicTime] = []
    private var worker: UInt64?
    /// Whether the refresh in progress has already exceeded the timeout of its first waiters.
    private(set) var isOverdue = false
    private var lastWorker: UInt64 = 0
    private(set) var waiters: [RefreshWaiter] = []

    /// Sets a credential that the app provides, and returns the waiters.
    ///
    /// The waiters continue with the new credential.
    ///
    /// If the credential differs from the current credential, the user counts as changed, unless `isSameUser` is
    /// `true`.
    mutating func replace(with credential: Credential?, isSameUser: Bool) -> [RefreshWaiter] {
        if credential == nil || !isSameUser && self.credential != credential {
            userChanges += 1
            number += 1
        }
        if credential == nil { logOuts += 1 }
        self.credential = credential
        version += 1
        isLoaded = true
        (isShort, ignoresExpiry) = (false, false)
        failure = nil
        leaveWork()
        refreshes = []
        defer { waiters = [] }
        return waiters
    }

    /// The current login.
    var login: PresentLogin { PresentLogin(number: number, logOuts: logOuts, credential: credential) }

    /// Whether a credential stored by an earlier launch may still be restored, because no user has logged in or out in
    /// this launch.
    var isOfLastRun: Bool { !isLoaded || credential == nil && number == 0 }

    /// Excludes the last refresh from the number of refreshes that ``Credentials/Policy/refreshes`` limits.
    mutating func discountRefresh() {
        if !refreshes.isEmpty { refreshes.removeLast() }
    }

    /// Counts a change of user a second time, after all observers have been notified of the change.
    ///
    /// An object that is created between the two counts may contain data of the former user. The second count ensures
    /// that the object does not count as an object of the new user.
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
            ignoresExpiry: ignoresExpiry,
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

    /// Starts loading or refreshing the credential, and returns a number that identifies this work.
    mutating func beginWork() -> UInt64 {
        lastWorker += 1
        worker = lastWorker
        return lastWorker
    }

    private mutating func leaveWork() {
        (worker, isOverdue) = (nil, false)
    }

    /// Removes and returns the waiters when their timeout has passed.
    ///
    /// The refresh continues, because its result is still needed.
    mutating func releaseWaiters(of number: UInt64) -> [RefreshWaiter]? {
        guard worker == number else { return nil }
        isOverdue = true
        endings += 1
        failure = Failure(version: version, error: .refreshTimedOut, number: endings)
        defer { waiters = [] }
        return waiters
    }

    mutating func add(_ waiter: RefreshWaiter) {
        waiters.append(waiter)
    }

    /// Records the end of a load or refresh of the credential, and removes and returns the requests that wait for it.
    ///
    /// Returns `nil` if a credential was set in the meantime, because the result is then obsolete. `isShort` is `true`
    /// if the new credential expires within the leeway, and `isExpired` if it has already expired.
    mutating func endWork(
        _ number: UInt64,
        _ result: Result<Credential?, CredentialError>,
        isShort: Bool,
        isExpired: Bool,
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
                // A provider that returns the expired credential again has not obtained a new one.
                ignoresExpiry = isExpired && new.scheme != credential?.scheme
                credential = new
                version += 1
                self.isShort = isShort
            }
        case .failure(let error):
            failure = Failure(version: version, error: error, number: endings)
            // The limit on refreshes is for credentials that the server rejects again and again. A transient outage, or
            // a refresh without a credential, does not count towards the limit.
            if isRefresh, error.outage != nil || error == .missing && credential == nil { discountRefresh() }
        }
        defer { waiters = [] }
        return waiters
    }
}

/// The credential that a request carries, and its version.
///
/// Because of the version, a 401 counts only against this credential.
struct CredentialLease: Sendable {
    var credential: Credential?
    /// The login that the credential belongs to, or `nil` for the call's own credential.
    var login: PresentLogin?
    var version: UInt64
    /// The number of refreshes that had ended when the request got this credential.
    var takenAt: UInt64
}

/// A request that waits for the result of a refresh.
typealias RefreshWaiter = Waiter<Result<Void, CredentialError>>
