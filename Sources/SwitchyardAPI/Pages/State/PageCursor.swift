/// The position in a list: the next page, and whether there is a next page.
///
/// Only this type decides whether a list has ended.
struct PageCursor<Item: Sendable>: Sendable {
    /// The next page, the end of the list, or the reason why the list cannot continue.
    enum Next: Sendable {
        case page(PageRequest.Position)
        case end
        case broken(APIError)
    }

    /// The number of consecutive pages without new items after which the list counts as a cycle.
    ///
    /// One or two such pages occur if items are inserted at the top of the list while it is read. Empty pages do not
    /// count if each response determines the next page, because filters may leave many of them empty.
    static var idlePages: Int { 3 }

    let size: Int
    let strategy: PageStrategy<Item>
    let pageLimit: Int
    /// The messages of the errors that the list itself raises (not a request), such as the error of an empty list.
    let messages: ErrorMessages
    private(set) var next: Next
    private(set) var index = 0
    private var visited: Set<PageRequest.Position> = []
    private var idle = 0
    private var largestPage = 0
    /// The number of items that have arrived.
    ///
    /// `total` is the last total that a response reported.
    private var arrived = 0
    private var total: Int?

    init(size: Int, strategy: PageStrategy<Item>, pageLimit: Int, messages: ErrorMessages = .standard) {
        self.size = max(1, size)
        self.strategy = strategy
        self.pageLimit = max(1, pageLimit)
        self.messages = messages
        next = .page(strategy.first)
    }

    /// Returns a cursor for a list that starts at another page than the first.
    ///
    /// The pages before that page count as full.
    func starting(with request: PageRequest) -> PageCursor {
        var start = PageCursor(size: size, strategy: strategy, pageLimit: pageLimit, messages: messages)
        start.next = .page(request.position)
        start.index = request.index
        let (items, overflow) = request.index.multipliedReportingOverflow(by: size)
        start.arrived = overflow ? .max : items
        return start
    }

    /// Returns an error that the list itself raises (not a request), with the messages in ``messages``.
    func failure(_ reason: APIError.Reason) -> APIError {
        APIError(reason, messages: messages)
    }

    /// Returns the request for the next page, or throws if there is no next page.
    func request() throws(APIError) -> PageRequest {
        switch next {
        case .page(let position):
            return PageRequest(position: position, index: index, size: size, largestPage: largestPage)
        case .end: throw failure(.list(.noMoreData))
        case .broken(let error): throw error
        }
    }

    /// Whether there is or may be a further page.
    var hasMore: Bool {
        if case .page = next { true } else { false }
    }

    /// Whether the list has ended.
    ///
    /// The value is `false` for a list that cannot continue. Its next request fails with the reason.
    var isAtEnd: Bool {
        if case .end = next { true } else { false }
    }

    /// Moves the cursor past a loaded page.
    ///
    /// - Parameters:
    ///   - request: The request for the page.
    ///   - page: The page.
    ///   - newItems: The number of items of the page that are new.
    ///   - successor: The next page according to the strategy: ``PageStrategy/successor(of:page:)``.
    mutating func advance(past request: PageRequest, page: Page<Item>, newItems: Int, to successor: Next) {
        index = request.index == .max ? .max : request.index + 1
        if page.arrivedItems > 0 || strategy.endsWithEmptyPage { idle = newItems == 0 ? idle + 1 : 0 }
        largestPage = max(largestPage, page.arrivedItems)
        arrived += min(page.arrivedItems, .max - arrived)
        total = page.total ?? total
        visited.insert(request.position)
        next = permitted(successor)
    }

    /// Ends the list if the failure of the next page only means that there is no next page.
    ///
    /// If a server's pages are larger than requested, the list is complete after fewer pages than the total implies. If
    /// the next page is then requested, many servers return an empty page, but Django responds with 404, and WordPress
    /// with 400.
    ///
    /// - Parameter error: The error of the load of the next page.
    /// - Returns: Whether the list has ended.
    mutating func ends(with error: APIError) -> Bool {
        guard case .page(let position) = next, let total, arrived >= total,
            error.refusedStatus == 404 || error.refusedStatus == 400
        else { return false }
        switch position {
        case .number, .offset: next = .end
        default: return false
        }
        return true
    }

    /// Moves the offset of the next page by the number of items that were inserted (or removed, if negative) before it.
    mutating func shift(by difference: Int) {
        guard difference != 0 else { return }
        arrived = max(0, arrived + min(difference, .max - arrived))
        total = total.map { max(0, $0 + min(difference, .max - $0)) }
        visited = []
        guard case .page(.offset(let offset)) = next, offset > 0 || difference > 0 else { return }
        next = .page(.offset(max(0, offset + min(difference, .max - offset))))
    }

    private func permitted(_ successor: Next) -> Next {
        guard case .page(let position) = successor else { return successor }
        if visited.contains(position) || idle >= Self.idlePages { return .broken(failure(.list(.repeatedPosition))) }
        return index >= pageLimit ? .broken(failure(.list(.pageLimit(pageLimit)))) : successor
    }
}

extension PageStrategy {
    /// Returns the page after a page.
    ///
    /// Call it outside every lock, because ``next`` may be a closure of the app.
    func successor(of request: PageRequest, page: Page<Item>) -> PageCursor<Item>.Next {
        let isLast = page.arrivedItems == 0 && endsWithEmptyPage && page.hasMore != true
        guard !isLast, page.hasMore != false else { return .end }
        do throws(APIError) {
            return try next(request, page).map { .page($0) } ?? .end
        } catch {
            return .broken(error)
        }
    }
}
