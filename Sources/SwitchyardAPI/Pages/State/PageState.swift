/// The state of a paged list as a pure value: the loaded items, the next page, and the load in flight.
///
/// A load consists of three steps, so that its result can be checked when it arrives:
///
///     let load = try state.begin(.more)          // says which page to ask for; nothing has changed yet
///     let outcome = state.commit(load, arrival)  // takes the page in, unless the load was superseded
///     state.fail(load)                           // or: leaves everything as it was
struct PageState<Item: Sendable>: Sendable {
    /// Which page a load is for.
    enum Action: Sendable, Hashable {
        case refresh
        case more
        /// A page by its position and the number of pages before it; the list starts again there.
        case jump(PagePosition, index: Int)

        var replacesList: Bool { self != .more }

        /// The action that replaces this one if the list has to start again.
        var anew: Action { self == .more ? .refresh : self }
    }

    /// A load that has begun.
    struct Load: Sendable, Hashable {
        let id: Int
        let action: Action
        let request: PageRequest
    }

    /// The effect of a loaded page.
    enum Outcome: Sendable {
        /// The new items of the page, none of them known before.
        case items([Item])
        /// The page is empty: nothing at all, or nothing more.
        case nothing(APIError.ListReason)
        /// Another load took this one's place; the page was dropped.
        case superseded
    }

    /// The result of trying to start a load.
    enum Start: Sendable {
        case load(Load)
        case busy(Load)
    }

    private(set) var items: [Item] = []
    /// How often the items have changed.
    private(set) var revision = 0
    private(set) var total: Int?
    /// The page that came last, as the load gave it.
    private(set) var lastPage: Page<Item>?
    private(set) var running: Load?
    private(set) var cursor: PageCursor<Item>
    private var index: any ItemIndex<Item>
    private let fresh: PageCursor<Item>
    private var loads = 0

    init(cursor: PageCursor<Item>, index: any ItemIndex<Item>) {
        self.cursor = cursor
        self.index = index
        fresh = cursor
    }

    /// Starts a load, or returns the one that it has to wait for.
    ///
    /// A refresh replaces a `loadMore`; every other load waits for the load in flight.
    ///
    /// - Throws: ``APIError`` if there is no further page.
    mutating func begin(_ action: Action) throws(APIError) -> Start {
        if let running, running.action.replacesList || action == .more { return .busy(running) }
        let request =
            switch action {
            case .more: try cursor.request()
            case .refresh: try fresh.request()
            case .jump(let position, let index): PageRequest(position: position, index: index, size: fresh.size)
            }
        loads += 1
        let load = Load(id: loads, action: action, request: request)
        running = load
        return .load(load)
    }

    /// Takes the page of a load in; the old items of a refresh go now, and not before.
    mutating func commit(_ load: Load, _ arrival: PageArrival<Item>) -> Outcome {
        let page = arrival.page
        guard running?.id == load.id else { return .superseded }
        running = nil
        revision += 1
        if load.action.replacesList {
            items = []
            total = nil
            index = index.emptied()
            cursor = fresh.starting(with: load.request)
        }
        total = page.total ?? total
        lastPage = page
        let new = index.merge(arrival.items, into: &items)
        cursor.advance(past: load.request, page: page, newItems: new.count, to: arrival.successor)
        guard page.arrivedItems == 0, cursor.isAtEnd else { return .items(new) }
        return .nothing(load.request.isFirst ? .noData : .noMoreData)
    }

    /// Ends the list with a load that was refused, if all items had come before.
    ///
    /// - Parameters:
    ///   - load: The load.
    ///   - error: How it was refused.
    /// - Returns: Whether the list has ended.
    mutating func end(_ load: Load, refusedBy error: APIError) -> Bool {
        guard load.action == .more, running?.id == load.id, cursor.ends(with: error) else { return false }
        running = nil
        return true
    }

    /// Ends a load without a page; everything stays as it was, so that the next try asks for the same page.
    mutating func fail(_ load: Load) {
        if running?.id == load.id { running = nil }
    }

    /// Takes the place of the items with others, which the app has made of them; the total and an offset move along.
    ///
    /// - Parameters:
    ///   - new: The items.
    ///   - index: The index that knows them.
    ///   - revision: The revision of the items that they were made of.
    /// - Returns: `false`, and nothing has changed, if the items have changed since.
    mutating func replaceItems(with new: [Item], _ index: any ItemIndex<Item>, after revision: Int) -> Bool {
        guard revision == self.revision else { return false }
        let difference = new.count - items.count
        items = new
        self.index = index
        self.revision += 1
        total = total.map { max(0, $0 + difference) }
        cursor.shift(by: difference)
        return true
    }

    /// Removes everything, and drops the load in flight.
    mutating func reset() {
        self = PageState(cursor: fresh, index: index.emptied(), loads: loads + 1, revision: revision + 1)
    }

    private init(cursor: PageCursor<Item>, index: any ItemIndex<Item>, loads: Int, revision: Int) {
        self.init(cursor: cursor, index: index)
        self.loads = loads
        self.revision = revision
    }
}
