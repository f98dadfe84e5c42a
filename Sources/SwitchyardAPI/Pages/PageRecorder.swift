import SwitchyardServices

/// Records how far a list has been loaded, and loads what comes next.
///
///     private let pages = PageRecorder<Topic>(pageSize: 20)
///
///     func refreshTopics() async throws(APIError) -> [Topic] {
///         try await pages.refresh { page in
///             try await self.value([Topic].self, for: .topics(page: page.number, size: page.size))
///         }
///     }
///
/// - A page counts only when its load succeeded: a load that fails, is cancelled or comes too late leaves the list as
///   it was, and the next try asks for the same page.
/// - A refresh keeps the old items until the new ones are there, and takes the place of a load of more in flight, whose
///   page is dropped with ``APIError/Cancellation/superseded``.
/// - A second call while one of its kind runs joins it and gets the same answer. A load of more waits for a refresh.
///   A closure that loads must not wait for its own load: such a call of its task fails with
///   ``APIError/ConfigurationReason/other(_:)``; one that it makes in another task and awaits is never answered.
/// - A load of more starts the list again when the manager that loads has come into another environment, or to another
///   user, since: what belongs to two of them is never in one list.
/// - An empty first page is ``APIError/Code/noData``, an empty later one ``APIError/Code/noMoreData``; from then on a
///   load of more answers so at once, until the next refresh.
///
/// A recorder belongs to one list: one for each endpoint and set of arguments. Any thread may call it.
public final class PageRecorder<Item: Sendable>: Sendable {
    let state: Locked<RecorderState<Item>>
    let settings: PageSettings<Item>

    /// Creates a recorder that takes every item for a new one.
    ///
    /// - Parameters:
    ///   - pageSize: How many items to ask for; at least 1, default is 10.
    ///   - strategy: How the next page is named; default is page numbers from 1.
    ///   - pageLimit: The most pages that one list may have, a guard against a server that never ends; default is 100,000.
    ///   - messages: The words of the errors that the recorder itself makes, such as those of an empty list; best those
    ///     of the manager's module.
    public convenience init(
        pageSize: Int = 10,
        strategy: PageStrategy<Item> = .pageNumber,
        pageLimit: Int = 100_000,
        messages: ErrorMessages = .standard
    ) {
        let cursor = PageCursor(size: pageSize, strategy: strategy, pageLimit: pageLimit, messages: messages)
        self.init(PageSettings(cursor: cursor, index: NoIndex()))
    }

    /// Creates a recorder that knows items by their id.
    ///
    /// An item whose id is in the list already takes the place of its older self and is not listed twice.
    ///
    /// - Parameters:
    ///   - pageSize: How many items to ask for; at least 1, default is 10.
    ///   - strategy: How the next page is named; default is page numbers from 1.
    ///   - pageLimit: The most pages that one list may have, a guard against a server that never ends; default is 100,000.
    ///   - messages: The words of the errors that the recorder itself makes, such as those of an empty list; best those
    ///     of the manager's module.
    ///   - id: The id of an item, as in `identifiedBy: \.id`.
    public convenience init<ID: Hashable & Sendable>(
        pageSize: Int = 10,
        strategy: PageStrategy<Item> = .pageNumber,
        pageLimit: Int = 100_000,
        messages: ErrorMessages = .standard,
        identifiedBy id: @escaping @Sendable (Item) -> ID
    ) {
        let cursor = PageCursor(size: pageSize, strategy: strategy, pageLimit: pageLimit, messages: messages)
        self.init(PageSettings(cursor: cursor, index: IdentityIndex<Item, ID>(id)))
    }

    private init(_ settings: PageSettings<Item>) {
        self.settings = settings
        state = Locked(RecorderState(PageState(cursor: settings.cursor, index: settings.index)))
    }

    deinit {
        state.withLock { $0.listeners.end() }.forEach { $0.finish() }
    }

    /// How many items are asked for at a time.
    public var pageSize: Int { settings.cursor.size }

    /// The items loaded so far, in the order of the list.
    public var items: [Item] { state.withLock { $0.pages.items } }

    /// What is loaded and what is under way, at this moment.
    public var snapshot: PageSnapshot<Item> { state.withLock { $0.snapshot } }

    /// The page that came last, as the load gave it; `nil` before the first.
    public var lastPage: Page<Item>? { state.withLock { $0.pages.lastPage } }

    /// Whether there is, or may be, a further page.
    public var hasMore: Bool { state.withLock { $0.pages.cursor.hasMore } }

    /// Whether a load is under way.
    public var isLoading: Bool { state.withLock { $0.pages.running != nil } }

    /// How many calls wait for the load of another.
    package var waiting: Int { state.withLock { $0.waiting } }

    /// Forgets everything; what is under way, and who waits for it, ends with ``APIError/Cancellation/superseded``.
    public func reset() {
        let effects = state.withLock { state in
            state.reset()
            return state.endLoad(with: .reset)
        }
        effects.run()
    }
}

/// What a recorder was made with.
struct PageSettings<Item: Sendable>: Sendable {
    let cursor: PageCursor<Item>
    let index: any ItemIndex<Item>

    /// An error of the list itself.
    func failure(_ reason: APIError.Reason) -> APIError { cursor.failure(reason) }

    /// A page that has come, with all that the app's closures say of it.
    func arrival(of page: Page<Item>, for request: PageRequest) -> PageArrival<Item> {
        PageArrival(
            page: page,
            items: index.named(page.items),
            successor: cursor.strategy.successor(of: request, page: page)
        )
    }
}

/// A page that has come, with all that the app's closures say of it: they are asked outside the lock.
struct PageArrival<Item: Sendable>: Sendable {
    let page: Page<Item>
    let items: NamedItems<Item>
    let successor: PageCursor<Item>.Next
}
