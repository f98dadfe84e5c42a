/// The state of a paged list as a pure value: the loaded items, the next page, and the load in flight.
///
/// A load consists of two steps, so that its result can be checked when it arrives:
///
///     let load = try state.begin(.more)          // returns the page to request; nothing has changed yet
///     let outcome = state.commit(load, arrival)  // adds the page, unless the load was superseded
///     state.fail(load)                           // or: leaves everything as it was
struct PageState<Item: Sendable>: Sendable {
    /// The kind of page that a load requests.
    enum Action: Sendable, Hashable {
        case refresh
        case more
        /// The page at this position, with the number of pages before it. The list starts again with this page.
        case jump(PageRequest.Position, index: Int)

        var replacesList: Bool { self != .more }

        /// The action that replaces this action if the list must start again.
        var anew: Action { self == .more ? .refresh : self }
    }

    /// A load that has started.
    struct Load: Sendable, Hashable {
        let id: Int
        let action: Action
        let request: PageRequest
    }

    /// The effect of a page that has arrived.
    enum Outcome: Sendable {
        /// The items of the page that are new in the list.
        case items([Item])
        /// The page is empty. The reason distinguishes an empty list from a list without further pages.
        case nothing(APIError.ListReason)
        /// Another load has replaced this load, so the page was dropped.
        case superseded
    }

    /// The result of starting a load: a new load, or the load in flight to wait for.
    enum Start: Sendable {
        case load(Load)
        case busy(Load)
    }

    private(set) var items: [Item] = []
    /// The number of times that the items have changed.
    private(set) var revision = 0
    private(set) var total: Int?
    /// The last page that arrived, as the load returned it.
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

    /// Starts a load, or returns the load in flight that the caller must wait for.
    ///
    /// A refresh replaces a `loadMore`. Every other load waits for the load in flight.
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

    /// Adds the page of a load to the list.
    ///
    /// For a refresh, the old items are removed only now.
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

    /// If all items have already arrived, ends the list because the server rejected a load.
    ///
    /// - Parameters:
    ///   - load: The load.
    ///   - error: The error of the load.
    /// - Returns: Whether the list has ended.
    mutating func end(_ load: Load, refusedBy error: APIError) -> Bool {
        guard load.action == .more, running?.id == load.id, cursor.ends(with: error) else { return false }
        running = nil
        return true
    }

    /// Ends a load without a page.
    ///
    /// The list does not change, so the next load requests the same page.
    mutating func fail(_ load: Load) {
        if running?.id == load.id { running = nil }
    }

    /// Replaces the items by items that the app has derived from them.
    ///
    /// The total and the offset of the next page are adjusted.
    ///
    /// - Parameters:
    ///   - new: The new items.
    ///   - index: The index that contains the new items.
    ///   - revision: The revision of the items from which the new items were derived.
    /// - Returns: `false` if the items have changed since that revision. In this case, nothing is replaced.
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

    /// Removes all items and abandons the load in flight.
    mutating func reset() {
        self = PageState(cursor: fresh, index: index.emptied(), loads: loads + 1, revision: revision + 1)
    }

    private init(cursor: PageCursor<Item>, index: any ItemIndex<Item>, loads: Int, revision: Int) {
        self.init(cursor: cursor, index: index)
        self.loads = loads
        self.revision = revision
    }
}
