import SwitchyardServices

/// A reader that loads a list page by page without keeping the items.
actor PageWalker<Item: Sendable> {
    private var cursor: PageCursor<Item>
    private var index: any ItemIndex<Item>
    private var hasFailed = false
    /// The environments and users for which the pages were requested.
    private let origins = Locked<PageOrigins>([:])
    private let load: @Sendable (PageRequest) async throws -> Page<Item>

    init(_ settings: PageSettings<Item>, load: @escaping @Sendable (PageRequest) async throws -> Page<Item>) {
        cursor = settings.cursor
        index = settings.index.emptied()
        self.load = load
    }

    /// Whether the user for whom the pages were requested has logged out.
    nonisolated var isLeft: Bool { origins.withLock { $0 }.areLeft }

    /// Returns an error that the walker itself raises (not a request), with the recorder's messages.
    func failure(_ reason: APIError.Reason) -> APIError { cursor.failure(reason) }

    /// Returns the new items of the next page, or `nil` at the end of the list and after a failure.
    func next() async throws(APIError) -> [Item]? {
        guard !cursor.isAtEnd, !hasFailed else { return nil }
        do {
            let request = try cursor.request()
            let page = try await page(request)
            let new = index.unseen(in: page.items)
            let successor = cursor.strategy.successor(of: request, page: page)
            cursor.advance(past: request, page: page, newItems: new.count, to: successor)
            return page.arrivedItems == 0 && cursor.isAtEnd ? nil : new
        } catch {
            let failure = APIError(error)
            if cursor.ends(with: failure) { return nil }
            hasFailed = true
            throw failure
        }
    }

    /// Returns a page, or throws if its environment or user differs from that of the earlier pages.
    ///
    /// The cursor of one environment or user is not sent to another one.
    private func page(_ request: PageRequest) async throws -> Page<Item> {
        let earlier = origins.withLock { $0 }
        guard !earlier.areOver else { throw cursor.failure(.cancelled(.superseded)) }
        let loadRecorder = PageLoadRecorder()
        let page: Result<Page<Item>, any Error>
        let isOver: Bool
        do {
            page = .success(try await loadRecorder.watching { try await load(request) })
            isOver = loadRecorder.origins.differ(from: earlier)
        } catch {
            page = .failure(error)
            // A failure in another environment, such as a 404, must not end the sequence as if there were no more
            // pages. A load that fails may not have made all of its calls.
            isOver = loadRecorder.origins.exceed(earlier)
        }
        guard !isOver else { throw cursor.failure(.cancelled(.superseded)) }
        origins.withLock { $0.merge(loadRecorder.origins) { list, _ in list } }
        return try page.get()
    }
}

/// A chain of loads that loads the next pages while one page is being read.
///
/// The chain has one reader. Each load waits for the load before it, because each page determines the next page.
final class PageLookahead<Item: Sendable>: Sendable {
    typealias Step = Result<[Item]?, APIError>

    /// The maximum number of pages that are loaded ahead, because each of them needs a task.
    private static var limit: Int { 1_000 }

    private let walker: PageWalker<Item>
    private let ahead: Int
    private let steps = Locked<[Task<Step, Never>]>([])

    init(_ walker: PageWalker<Item>, ahead: Int) {
        self.walker = walker
        self.ahead = min(max(0, ahead), Self.limit)
    }

    deinit {
        for step in steps.withLock({ $0 }) { step.cancel() }
    }

    /// Returns the new items of the next page, and starts the loads of the pages after it.
    func next() async throws(APIError) -> [Item]? {
        let step = steps.withLock { steps -> Task<Step, Never> in
            while steps.count <= ahead { steps.append(Self.step(walker, after: steps.last)) }
            return steps.removeFirst()
        }
        let result = await withTaskCancellationHandler {
            await step.value
        } onCancel: {
            step.cancel()
        }
        guard case .success(.some) = result else { return try result.get() }
        try await checkUser()
        if ahead > 0 { begin() }
        return try result.get()
    }

    /// Throws if the user for whom pages were loaded has logged out, so that another user does not receive the pages.
    nonisolated(nonsending) func checkUser() async throws(APIError) {
        guard walker.isLeft else { return }
        throw await walker.failure(.cancelled(.superseded))
    }

    /// Adds loads to the chain, so that the next pages are loaded while this page is read.
    private func begin() {
        steps.withLock { steps in
            while steps.count < ahead { steps.append(Self.step(walker, after: steps.last)) }
        }
    }

    private static func step(_ walker: PageWalker<Item>, after previous: Task<Step, Never>?) -> Task<Step, Never> {
        Task {
            if case .success(nil)? = await previous?.value { return .success(nil) }
            do throws(APIError) {
                return .success(try await walker.next())
            } catch {
                return .failure(error)
            }
        }
    }
}
