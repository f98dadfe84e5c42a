import Foundation
import SwitchyardServices

/// The state of a recorder behind its lock; changes return the effects to perform after the lock is released.
struct RecorderState<Item: Sendable>: Sendable {
    /// The end of a load, for its waiters.
    enum Ending: Sendable {
        case items([Item])
        case failed(APIError)
        /// The page was dropped, and the waiters have to check again.
        case superseded
        /// The recorder was reset, and the waiters end with it.
        case reset
    }

    /// The effects to perform without the lock.
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
    /// The hash of the task that performs the load in flight, or of the last one.
    var loader: Int?
    /// The recorder of the load's environment and user, or that of the last load.
    var witness: PageLoadRecorder?
    var lastError: APIError?
    var lastLoaded: Date?
    /// For which environments and users the pages of the list were asked.
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

    /// Starts a load of the first page to replace a `loadMore` whose page was requested for another owner than the
    /// earlier pages.
    ///
    /// Returns `nil` if the owner is the same or no caller needs the load any more.
    mutating func restart(_ load: PageState<Item>.Load, askedFor page: PageOrigins) -> PageState<Item>.Load? {
        guard load.action == .more, pages.running?.id == load.id, page.differ(from: origins),
            case .load(let first)? = try? pages.begin(.refresh)
        else { return nil }
        return first
    }

    /// Notes for which environments and users the page of a load was asked that has been taken in.
    mutating func note(_ page: PageOrigins, of load: PageState<Item>.Load) {
        if load.action.replacesList { origins = [:] }
        origins.merge(page) { list, _ in list }
    }

    /// Forgets everything.
    mutating func reset() {
        pages.reset()
        lastError = nil
        lastLoaded = nil
        origins = [:]
    }

    /// How many wait for the load under way.
    var waiting: Int { waiters.count }

    /// Adds a waiter to the load in flight; returns `false` if the load is not in flight any more.
    mutating func add(_ waiter: Waiter<Ending>, for load: Int) -> Bool {
        guard pages.running?.id == load else { return false }
        waiters.add(waiter)
        return true
    }

    /// Removes a waiter.
    mutating func remove(_ waiter: Waiter<Ending>) { waiters.remove(waiter) }

    /// Ends the load for its waiters, and announces the new state of the list.
    mutating func endLoad(with ending: Ending) -> Effects {
        Effects(
            waiters: waiters.removeAll(),
            ending: ending,
            listeners: listeners.all
        )
    }

    /// Announces the state of the list to its observers.
    func announce() -> Effects {
        Effects(listeners: listeners.all)
    }
}
