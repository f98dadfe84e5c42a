import Foundation

/// Everything that a recorder holds behind its lock; changes hand back what has to be done once the lock is released.
struct RecorderState<Item: Sendable>: Sendable {
    /// How a load ended, for those who wait for it.
    enum Ending: Sendable {
        case items([Item])
        case failed(APIError)
        /// The page was dropped: those who wait have to look again.
        case superseded
        /// Everything was forgotten, and those who wait are dropped with it.
        case reset
    }

    /// What has to be done without the lock.
    struct Effects: Sendable {
        var resumptions: [CheckedContinuation<Ending, Never>] = []
        var ending: Ending = .superseded
        var listeners: [AsyncStream<Void>.Continuation] = []

        func run() {
            for continuation in resumptions { continuation.resume(returning: ending) }
            for listener in listeners { listener.yield() }
        }
    }

    var pages: PageState<Item>
    /// The task that carries out the load under way, by its hash; of the last one when there is none.
    var loader: Int?
    /// Notes for whom the load under way asks; that of the last one when there is none.
    var witness: PageWitness?
    var lastError: APIError?
    var lastLoaded: Date?
    /// For which environments and users the pages of the list were asked.
    private(set) var origins: PageOrigins = [:]
    var listeners = ChangeListeners()
    private var room = WaitingRoom<Ending>()

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

    /// Begins a load of the first page in place of one of more whose page was asked elsewhere than those before it;
    /// `nil` when it was not, or nobody wants it any more.
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
    var waiting: Int { room.count }

    /// A number for one who is going to wait.
    mutating func newWaiter() -> Int { room.takeNumber() }

    /// Waits for the load under way; `false` when it is not under way any more.
    mutating func wait(for load: Int, as waiter: Int, _ continuation: CheckedContinuation<Ending, Never>) -> Bool {
        guard pages.running?.id == load else { return false }
        room.enter(waiter, continuation)
        return true
    }

    /// Takes one who waited and does not want to any more.
    mutating func leave(_ waiter: Int) -> CheckedContinuation<Ending, Never>? { room.leave(waiter) }

    /// Tells those who wait how the load ended, and the listeners what the list is now.
    mutating func endLoad(with ending: Ending) -> Effects {
        Effects(
            resumptions: room.empty(),
            ending: ending,
            listeners: listeners.all
        )
    }

    /// Tells the listeners what the list is now.
    func announce() -> Effects {
        Effects(listeners: listeners.all)
    }
}
