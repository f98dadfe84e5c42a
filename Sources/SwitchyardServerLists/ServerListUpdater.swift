import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Applies the stored list of a ``ServerList``, and fetches, checks, applies and stores newer lists.
///
/// All state is under one lock. Disk access, requests, callbacks of the client and events happen outside the lock. At
/// most one fetch is under way.
final class ServerListUpdater: Sendable {
    private struct State {
        var schedule: ServerListSchedule
        var random: RandomSource
        /// The newest list that was accepted in this launch or an earlier launch.
        var newest: ServerListDocument?
        /// Whether ``newest`` is the list that the client uses.
        var isApplied = false
        /// Whether ``newest`` is on the disk.
        var isStored = false
        var validators: [String: ServerListValidator] = [:]
        var isExpired = false
        var refusal: ServerListRefusal?
        /// The index of the URL that is requested first.
        var first = 0
        var isReachable = true
        var timer: (any ScheduledTimer)?
        var fetch: Task<Bool, Never>?
        var clientObserver: ClientObserver?
        var isStopped = false

        /// The contents of the file of ``newest``.
        var contents: ServerListStore.Contents? {
            newest.map { ServerListStore.Contents(envelope: $0.envelope, validators: validators) }
        }
    }

    let events = EventHub<ServerListEvent>()
    private let client: NetworkClient
    private let source: ServerListSource
    private let rules: ServerListRules
    private let store: ServerListStore
    private let state: Locked<State>

    init(
        _ client: NetworkClient,
        _ source: ServerListSource,
        _ rules: ServerListRules,
        _ store: ServerListStore,
        _ options: ServerList.Options
    ) {
        self.client = client
        self.source = source
        self.rules = rules
        self.store = store
        var random = RandomSource(seed: options.seed)
        let schedule = ServerListSchedule(options, at: client.time.now, &random)
        state = Locked(State(schedule: schedule, random: random))
    }

    /// The list that the client uses.
    var status: ServerListStatus {
        state.withLock { state in
            let list = state.isApplied ? state.newest : nil
            return ServerListStatus(
                version: list?.version,
                expires: list?.expires,
                isExpired: state.isExpired,
                refusal: state.refusal
            )
        }
    }

    /// Applies the stored list, observes the calls of the client, and plans the first fetch.
    func start() {
        restore()
        let clientObserver = ClientObserver { [weak self] event in
            if event.kind.showsThatAllServersFail { self?.requestFetchIfReachable() }
        }
        state.withLock { $0.clientObserver = clientObserver }
        client.attach(clientObserver)
        plan()
    }

    func stop() {
        let (timer, fetch, clientObserver) = state.withLock { state in
            state.isStopped = true
            defer { (state.timer, state.fetch, state.clientObserver) = (nil, nil, nil) }
            return (state.timer, state.fetch, state.clientObserver)
        }
        timer?.cancel()
        fetch?.cancel()
        if let clientObserver { client.detach(clientObserver) }
        events.finish()
    }
}

// MARK: - Schedule

extension ServerListUpdater {
    func setReachable(_ isReachable: Bool) { state.withLock { $0.isReachable = isReachable } }

    /// Plans a fetch for the earliest time that the schedule allows.
    func requestFetch() {
        let now = client.time.now
        state.withLock { $0.schedule.request(at: now) }
        plan()
    }

    /// Plans a fetch, unless a missing network explains why all servers fail.
    private func requestFetchIfReachable() {
        if state.withLock({ $0.isReachable }) { requestFetch() }
    }

    /// Sets the timer of the next fetch.
    ///
    /// While a fetch is under way, there is no timer. The timer is set when the fetch has ended.
    private func plan() {
        let time = client.time
        let old = state.withLock { state in
            let old = state.timer
            // Setting a timer runs no other code, so it may happen under the lock. Without the lock, two threads could
            // both set a timer.
            state.timer =
                state.isStopped || state.fetch != nil
                ? nil
                : time.schedule(at: state.schedule.due) { [weak self] in
                    guard let self else { return }
                    Task { await self.refresh() }
                }
            return old
        }
        old?.cancel()
    }

    /// Fetches the list, or waits for the fetch that is under way.
    func refresh() async -> Bool {
        let now = client.time.now
        let fetch: Task<Bool, Never>? = state.withLock { state in
            guard !state.isStopped else { return nil }
            if let fetch = state.fetch { return fetch }
            state.schedule.begin(at: now, &state.random)
            let fetch = Task {
                let isCurrent = await self.fetch()
                self.state.withLock { $0.fetch = nil }
                self.plan()
                return isCurrent
            }
            state.fetch = fetch
            return fetch
        }
        guard let fetch else { return false }
        plan()
        return await fetch.value
    }
}

// MARK: - Fetching

extension ServerListUpdater {
    /// Requests the list from every URL, one after another, and returns whether a URL has a list that is valid and not
    /// expired.
    ///
    /// All URLs are requested, because one URL may have an older list than another. The next fetch starts with the
    /// first URL that had the newest list.
    private func fetch() async -> Bool {
        let first = state.withLock { $0.first }
        var isCurrent = false
        for offset in source.urls.indices {
            let index = (first + offset) % source.urls.count
            let before = version
            guard await fetch(source.urls[index]), !Task.isCancelled else { continue }
            if !isCurrent || version != before { state.withLock { $0.first = index } }
            isCurrent = true
        }
        await storeList()
        reportExpiry()
        return isCurrent && !status.isExpired
    }

    private var version: Int? { state.withLock { $0.newest?.version } }

    /// Requests the list of one URL, and returns whether the URL has a list that is valid and not expired.
    private func fetch(_ url: RequestURL) async -> Bool {
        guard !Task.isCancelled else { return false }
        let validator = state.withLock { $0.isApplied ? $0.validators[url.text] : nil }
        let name = Redaction.standard.url(url.text)
        switch await source.fetch(url, validator) {
        case .list(let document, let validator, let date):
            guard !Task.isCancelled else { return false }
            noteTime(date)
            do throws(ServerListRefusal) {
                return try await take(document, from: url, validator, date)
            } catch {
                refuse(error, name)
            }
        case .notModified(let date):
            guard let list = state.withLock({ $0.newest }) else { return false }
            return keep(list, asOf: date)
        case .tooLarge: refuse(.tooLarge, name)
        case .failed(let reason): events.send(.unreachable(reason, source: name))
        case .cancelled: break
        case .closed: stop()
        }
        return false
    }

    /// Checks, applies and stores a list.
    ///
    /// - Returns: Whether the list has not expired. If the updates have been stopped, `false`.
    func take(
        _ document: Data,
        from url: RequestURL,
        _ validator: ServerListValidator?,
        _ date: Date?
    ) async throws(ServerListRefusal) -> Bool {
        let list = try ServerListDocument(document, signedBy: rules.keys)
        let (newest, isApplied) = state.withLock { ($0.newest, $0.isApplied) }
        // The list in use is not checked again, so it stays in use even if it has expired.
        let isInUse = isApplied && list.payload == newest?.payload
        if !isInUse { try rules.check(list, newest: newest, date: date) }
        guard !state.withLock({ $0.isStopped }) else { return false }
        let difference = isInUse ? nil : try apply(list)
        record(list, from: url, validator, isInUse: isInUse)
        guard let difference else { return keep(list, asOf: date) }
        events.send(.applied(version: list.version, difference))
        await storeList()
        return noteExpiry(of: list, asOf: date)
    }

    /// Records the list that is now in use.
    private func record(
        _ list: ServerListDocument,
        from url: RequestURL,
        _ validator: ServerListValidator?,
        isInUse: Bool
    ) {
        state.withLock { state in
            let old = state.contents
            if !isInUse { state.validators = [:] }
            state.validators[url.text] = validator
            (state.newest, state.isApplied, state.refusal) = (list, true, nil)
            if state.contents != old { state.isStored = false }
        }
    }

    /// Reports that the list in use is the newest, and returns whether it has not expired.
    private func keep(_ list: ServerListDocument, asOf date: Date?) -> Bool {
        events.send(.unchanged(version: list.version))
        return noteExpiry(of: list, asOf: date, isSame: true)
    }

    /// Records whether the list in use has expired, and returns whether it has not.
    ///
    /// A list that has expired stays expired, even if the next URL reports no time.
    private func noteExpiry(of list: ServerListDocument, asOf date: Date?, isSame: Bool = false) -> Bool {
        let hasPassed = ServerListRules.now(list, date).map { $0 > list.expires } ?? false
        return state.withLock { state in
            state.isExpired = hasPassed || (isSame && state.isExpired)
            return !state.isExpired
        }
    }

    /// Records that the list in use has expired if the server's time is after its expiry.
    private func noteTime(_ date: Date?) {
        guard let date else { return }
        state.withLock { state in
            if state.isApplied, let list = state.newest, date > list.expires { state.isExpired = true }
        }
    }

    /// Reports that the list in use has expired and that no newer one was found.
    private func reportExpiry() {
        let expired = state.withLock { $0.isApplied && $0.isExpired ? $0.newest : nil }
        if let expired { events.send(.expired(version: expired.version, expired.expires)) }
    }

    private func refuse(_ refusal: ServerListRefusal, _ source: String) {
        state.withLock { $0.refusal = refusal }
        events.send(.refused(refusal, source: source))
    }

    /// Stores the list in use, unless it is stored already.
    ///
    /// A new list is stored immediately. At the end of each fetch, the validators of further URLs are stored. If the
    /// list could not be stored before, it is stored then. A newer list that another process has stored is kept.
    private func storeList() async {
        let (isStored, list, contents) = state.withLock { ($0.isStored, $0.newest, $0.contents) }
        guard !isStored, let list, let contents else { return }
        do throws(FileFailure) {
            try await BlockingWork.run { [store, keys = rules.keys] () throws(FileFailure) in
                try store.write(contents) { kept in
                    let old = try? ServerListDocument(kept.envelope, signedBy: keys)
                    return old.map { $0.version > list.version } ?? false
                }
            }
            state.withLock { $0.isStored = true }
        } catch {
            events.send(.notStored(error))
        }
    }
}

// MARK: - Applying

extension ServerListUpdater {
    /// Applies the stored list.
    ///
    /// A stored list whose signature is valid sets the version below which no list is accepted, even if it is not
    /// applied. A stored list that none of the app's keys has signed is ignored. The key that signed it may have been
    /// withdrawn because it was stolen, and the thief could have signed a list with the highest possible version.
    private func restore() {
        do throws(ServerListRefusal) {
            guard let contents = try store.read() else { return }
            let list = try ServerListDocument(contents.envelope, signedBy: rules.keys)
            state.withLock { ($0.newest, $0.validators, $0.isStored) = (list, contents.validators, true) }
            try rules.check(list, newest: nil, date: nil)
            _ = try apply(list)
            state.withLock { $0.isApplied = true }
        } catch {
            refuse(error, store.url.path)
        }
    }

    /// Replaces the servers of the client.
    ///
    /// - Returns: The difference between the servers before and after.
    private func apply(_ list: ServerListDocument) throws(ServerListRefusal) -> ServerListDifference {
        let old = client.service.servers
        if old != list.servers {
            do throws(ClientError) {
                try client.replaceServers(list.servers)
            } catch {
                throw .unusable(error)
            }
        }
        return ServerListDifference(from: old, to: list.servers)
    }
}
