import Foundation
import SwitchyardServices

/// The state of a recorder, protected by its lock.
///
/// Methods that change the state return effects, which the caller performs after it has released the lock.
struct RecorderState<Item: Sendable>: Sendable {
    /// The way in which a load ended, for the calls that wait for it.
    enum Ending: Sendable {
        case items([Item])
        case failed(APIError)
        /// The page was dropped. The waiters must check again what to load.
        case superseded
        /// The recorder was reset. The waiters fail.
        case reset
    }

    /// The effects to perform after the lock is released.
    struct Effects: Sendable {
        var waiters: [Waiter<Ending>] = []
        var ending: Ending = .superseded
        var listeners: [AsyncStream<Void>.Continuation] = []

        func run() {
            for waiter in waiters { waiter.resume(returning: ending) }
            for listener in listeners { listener.yield() }
        }
    }

    var pages: PageState<Item>
    /// The hash value of the task that performs the load in flight, or that performed the last load.
    var loader: Int?
    /// The object that records the environments and users of the load in flight, or of the last load.
    var loadRecorder: PageLoadRecorder?
    var lastError: APIError?
    var lastLoaded: Date?
    /// The environments and users for which the pages of the list were requested.
    private(set) var origins: PageOrigins = [:]
    var listeners = ChangeListeners()
    private var waiters = WaiterList<Ending>()

    init(_ pages: PageState<Item>) {
        self.pages = pages
    }

    var snapshot: PageSnapshot<Item> {
        PageSnapshot(
            items: pages.items,
            activity: pages.running.map { $0.action.replacesList ? .refreshing : .loadingMore } ?? .idle,
            hasMore: pages.cursor.hasMore,
            pagesLoaded: pages.cursor.index,
            total: pages.total,
            pageCount: pages.total.map { SwitchyardAPI.pageCount(items: $0, size: pages.cursor.size) },
            lastError: lastError,
            lastLoaded: lastLoaded
        )
    }

    /// Starts a load of the first page to replace a `loadMore` whose page was requested for another environment or user
    /// than the earlier pages.
    ///
    /// The method returns `nil` if the environment and user are the same, or if no caller needs the load any more.
    mutating func restart(_ load: PageState<Item>.Load, askedFor page: PageOrigins) -> PageState<Item>.Load? {
        guard load.action == .more, pages.running?.id == load.id, page.differ(from: origins),
            case .load(let first)? = try? pages.begin(.refresh)
        else { return nil }
        return first
    }

    /// Records the environments and users of the requests for a page that has been added to the list.
    mutating func note(_ page: PageOrigins, of load: PageState<Item>.Load) {
        if load.action.replacesList { origins = [:] }
        origins.merge(page) { list, _ in list }
    }

    /// Removes all items and abandons the load in flight.
    mutating func reset() {
        pages.reset()
        lastError = nil
        lastLoaded = nil
        origins = [:]
    }

    /// The number of calls that wait for the load in flight.
    var waiting: Int { waiters.count }

    /// Adds a waiter to the load in flight.
    ///
    /// Returns `false` if that load is no longer in flight.
    mutating func add(_ waiter: Waiter<Ending>, for load: Int) -> Bool {
        guard pages.running?.id == load else { return false }
        waiters.add(waiter)
        return true
    }

    mutating func remove(_ waiter: Waiter<Ending>) { waiters.remove(waiter) }

    /// Ends the load for its waiters, and returns the effect that notifies observers of the list's new state.
    mutating func endLoad(with ending: Ending) -> Effects {
        Effects(
            waiters: waiters.removeAll(),
            ending: ending,
            listeners: listeners.all
        )
    }

    /// Returns the effect that notifies observers of the list's state.
    func announce() -> Effects {
        Effects(listeners: listeners.all)
    }
}
