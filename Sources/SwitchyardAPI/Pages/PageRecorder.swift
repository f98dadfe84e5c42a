import Foundation
import SwitchyardServices

/// A list that is loaded page by page.
///
/// The recorder stores how far the list has been loaded, and loads the next page.
///
///     private let pages = PageRecorder<Topic>(pageSize: 20)
///
///     func refreshTopics() async throws(APIError) -> [Topic] {
///         try await pages.refresh { page in
///             try await self.value([Topic].self, for: .topics(page: page.number, size: page.size))
///         }
///     }
///
/// - A page is added only if its load succeeds. A load that fails, is cancelled or is superseded leaves the list
///   unchanged, and the next load requests the same page.
/// - A refresh keeps the old items until the new items have arrived. It replaces a `loadMore` in flight, which fails
///   with ``APIError/Cancellation/superseded``.
/// - A second call of the same kind joins the load in flight and gets the same result. A `loadMore` waits for a
///   refresh. A closure that loads a page must not start another load of the same list and wait for it: in the same
///   task, such a call fails with ``APIError/ConfigurationReason/other(_:)``, and in another task it never returns.
/// - If the environment or the user changes, a load in flight fails with ``APIError/Cancellation/superseded``, and
///   later loads do not join it.
/// - If the environment or the user of the loading manager has changed, a `loadMore` starts the list again. A list
///   therefore never contains the data of two environments or users.
/// - An empty first page is ``APIError/Code/noData`` unless `allowsEmptyList` is set. An empty later page is
///   ``APIError/Code/noMoreData``. After that, every `loadMore` fails immediately with the same error until the next
///   refresh.
///
/// Create one recorder for each list, which means for each endpoint and set of arguments. Any thread may call it.
public final class PageRecorder<Item: Sendable>: Sendable {
    let state: Locked<RecorderState<Item>>
    let settings: PageSettings<Item>

    /// Creates a recorder that treats every item as a new item.
    ///
    /// - Parameters:
    ///   - pageSize: The number of items of a page, at least 1 and 10 by default.
    ///   - strategy: The strategy that determines the next page, by default page numbers from 1.
    ///   - pageLimit: The maximum number of pages of a list, 100,000 by default. It guards against a server that never
    ///     ends the list.
    ///   - messages: The messages of the recorder's own errors, such as the error of an empty list. Pass the
    ///     messages of the manager's module.
    ///   - allowsEmptyList: Whether an empty first page is an empty list instead of the error ``APIError/Code/noData``.
    ///     It is `false` by default.
    public convenience init(
        pageSize: Int = 10,
        strategy: PageStrategy<Item> = .pageNumber,
        pageLimit: Int = 100_000,
        messages: ErrorMessages = .standard,
        allowsEmptyList: Bool = false
    ) {
        let cursor = PageCursor(size: pageSize, strategy: strategy, pageLimit: pageLimit, messages: messages)
        self.init(PageSettings(cursor: cursor, index: NoIndex(), allowsEmptyList: allowsEmptyList))
    }

    /// Creates a recorder that identifies items by their id.
    ///
    /// A new item replaces an item with the same id, so no item is listed twice.
    ///
    /// - Parameters:
    ///   - pageSize: The number of items of a page, at least 1 and 10 by default.
    ///   - strategy: The strategy that determines the next page, by default page numbers from 1.
    ///   - pageLimit: The maximum number of pages of a list, 100,000 by default. It guards against a server that never
    ///     ends the list.
    ///   - messages: The messages of the recorder's own errors, such as the error of an empty list. Pass the
    ///     messages of the manager's module.
    ///   - allowsEmptyList: Whether an empty first page is an empty list instead of the error ``APIError/Code/noData``.
    ///     It is `false` by default.
    ///   - id: The id of an item, as in `identifiedBy: \.id`.
    public convenience init<ID: Hashable & Sendable>(
        pageSize: Int = 10,
        strategy: PageStrategy<Item> = .pageNumber,
        pageLimit: Int = 100_000,
        messages: ErrorMessages = .standard,
        allowsEmptyList: Bool = false,
        identifiedBy id: @escaping @Sendable (Item) -> ID
    ) {
        let cursor = PageCursor(size: pageSize, strategy: strategy, pageLimit: pageLimit, messages: messages)
        let index = IdentityIndex<Item, ID>(id)
        self.init(PageSettings(cursor: cursor, index: index, allowsEmptyList: allowsEmptyList))
    }

    private init(_ settings: PageSettings<Item>) {
        self.settings = settings
        state = Locked(RecorderState(PageState(cursor: settings.cursor, index: settings.index)))
    }

    deinit {
        state.withLock { $0.listeners.end() }.forEach { $0.finish() }
    }

    /// The number of items that are requested for each page.
    public var pageSize: Int { settings.cursor.size }

    /// The items loaded so far, in the order of the list.
    public var items: [Item] { state.withLock { $0.pages.items } }

    /// The current state of the list: the loaded items and the load in flight.
    public var snapshot: PageSnapshot<Item> { state.withLock { $0.snapshot } }

    /// The last page that was loaded, as the load returned it, or `nil` before the first page.
    public var lastPage: Page<Item>? { state.withLock { $0.pages.lastPage } }

    /// Whether there is or may be a further page.
    public var hasMore: Bool { state.withLock { $0.pages.cursor.hasMore } }

    /// Whether a load is in flight.
    public var isLoading: Bool { state.withLock { $0.pages.running != nil } }

    /// The number of calls that wait for a load that another call started.
    package var waiting: Int { state.withLock { $0.waiting } }

    /// Removes all items.
    ///
    /// A load in flight and its waiters fail with ``APIError/Cancellation/superseded``.
    public func reset() {
        let effects = state.withLock { state in
            state.reset()
            return state.endLoad(with: .reset)
        }
        effects.run()
    }
}

/// The settings of a recorder.
struct PageSettings<Item: Sendable>: Sendable {
    let cursor: PageCursor<Item>
    let index: any ItemIndex<Item>
    /// Whether an empty first page is an empty list instead of an error.
    let allowsEmptyList: Bool

    /// Returns an error that the recorder itself raises (not a request), with the recorder's messages.
    func failure(_ reason: APIError.Reason) -> APIError { cursor.failure(reason) }

    /// Returns a page together with the results of the app's closures: the ids of its items, and the next page.
    func arrival(of page: Page<Item>, for request: PageRequest) -> PageArrival<Item> {
        PageArrival(
            page: page,
            items: index.named(page.items),
            successor: cursor.strategy.successor(of: request, page: page)
        )
    }
}

/// A page that has arrived, with the results of the app's closures.
///
/// These closures are called outside the lock.
struct PageArrival<Item: Sendable>: Sendable {
    let page: Page<Item>
    let items: NamedItems<Item>
    let successor: PageCursor<Item>.Next
}

extension PageRecorder {
    /// Loads the first page.
    ///
    /// When the page arrives, its items replace all items of the list.
    ///
    /// - Parameter load: Loads the requested page. An error that it throws is converted to an ``APIError``.
    /// - Returns: The items of the first page.
    /// - Throws: ``APIError``: the error of `load`, or ``APIError/Code/noData`` if the page is empty.
    @discardableResult
    public nonisolated(nonsending) func refresh<Content: PageContent<Item>>(
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        try await perform(.refresh, load)
    }

    /// Loads the next page and appends its items.
    ///
    /// Before the first refresh, it loads the first page.
    ///
    /// If the page is loaded in another environment or for another user than the earlier pages, the first page is
    /// loaded instead, and the list starts again with it.
    ///
    /// - Parameter load: Loads the requested page. It is not called if there is no further page.
    /// - Returns: The items that are new in the list.
    /// - Throws: ``APIError``: the error of `load`, ``APIError/Code/noMoreData`` at the end of the list, or
    ///   ``APIError/Cancellation/superseded`` if a refresh replaced the load.
    @discardableResult
    public nonisolated(nonsending) func loadMore<Content: PageContent<Item>>(
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        try await perform(.more, load)
    }

    /// Loads the page with a number, and starts the list again with this page.
    ///
    /// - Parameters:
    ///   - number: The number of the page, counted from 1. A lower number counts as 1.
    ///   - load: Loads the requested page.
    /// - Returns: The items of the page.
    /// - Throws: ``APIError``: the error of `load`. If the page is empty, the error is ``APIError/Code/noData`` or
    ///   ``APIError/Code/noMoreData``, and the list is empty. If the list has no page numbers, the error is
    ///   ``APIError/ConfigurationReason/unsupported(_:)``.
    @discardableResult
    public nonisolated(nonsending) func loadPage<Content: PageContent<Item>>(
        _ number: Int,
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        let index = max(1, number) - 1
        let (distance, overflow) = index.multipliedReportingOverflow(by: pageSize)
        let position: PageRequest.Position? =
            switch settings.cursor.strategy.first {
            case .number(let first): .number(first.addingReportingOverflow(index).partialValue)
            case .offset(let first): overflow ? nil : .offset(first.addingReportingOverflow(distance).partialValue)
            default: nil
            }
        guard let position else {
            let reason = "page \(number) cannot be loaded directly, because the list has no page numbers"
            throw settings.failure(.configuration(.unsupported(reason)))
        }
        return try await perform(.jump(position, index: index), load)
    }

    private nonisolated(nonsending) func perform<Content: PageContent<Item>>(
        _ action: PageState<Item>.Action,
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        while true {
            dropLoadOfBefore(action)
            let loadRecorder = PageLoadRecorder()
            let (start, effects) = try begin(action, loadRecorder, startsAnew: isListOfBefore)
            effects.run()
            switch start {
            case .load(let own):
                return try await carryOut(own, loadRecorder, load)
            case .busy(let other):
                let ending = await ending(of: other)
                if case .reset = ending { throw settings.failure(.cancelled(.superseded)) }
                guard other.action == action else { continue }
                switch ending {
                case .items(let items): return items
                case .failed(let error): throw error
                case .superseded, .reset: continue
                }
            }
        }
    }

    private static var ownLoad: String { "the closure that loads a page must not wait for a load of the same list" }

    /// Abandons the load in flight if it is outdated, so that later calls do not join it.
    ///
    /// A load is outdated if the environment or the user has changed. If this load and the new load both replace the
    /// whole list, this load is also outdated if a call has sent a write request to a path that it requested.
    private func dropLoadOfBefore(_ action: PageState<Item>.Action) {
        let (running, loadRecorder) = state.withLock { ($0.pages.running, $0.loadRecorder) }
        // The app's closure that names the user is called without the lock.
        guard let running, let loadRecorder,
            loadRecorder.isOver || action.replacesList && running.action.replacesList && loadRecorder.isOutdated
        else { return }
        let effects = state.withLock { state -> RecorderState<Item>.Effects in
            guard state.pages.running?.id == running.id else { return RecorderState.Effects() }
            state.pages.fail(running)
            return state.endLoad(with: .superseded)
        }
        effects.run()
    }

    /// Whether the items belong to an environment or user other than the current environment or user.
    private var isListOfBefore: Bool { state.withLock { $0.origins }.areOver }

    private func begin(
        _ wanted: PageState<Item>.Action,
        _ loadRecorder: PageLoadRecorder,
        startsAnew: Bool
    ) throws(APIError) -> (PageState<Item>.Start, RecorderState<Item>.Effects) {
        guard !Task.isCancelled else { throw settings.failure(.cancelled(.caller)) }
        let task = withUnsafeCurrentTask { $0?.hashValue }
        return try state.withLock { state throws(APIError) in
            let overtakes = state.pages.running != nil
            // If the load in flight starts the list again, a `loadMore` waits for it and then loads the next page.
            let isBehind = state.pages.running?.action.replacesList ?? false
            let action = startsAnew && !isBehind ? wanted.anew : wanted
            let start = try state.pages.begin(action)
            guard case .load = start else {
                // The current task runs the closure of the load that it would wait for, so it would wait forever.
                guard state.loader != task else { throw settings.failure(.configuration(.other(Self.ownLoad))) }
                return (start, RecorderState.Effects())
            }
            state.loader = task
            state.loadRecorder = loadRecorder
            return (start, overtakes ? state.endLoad(with: .superseded) : state.announce())
        }
    }

    private nonisolated(nonsending) func carryOut<Content: PageContent<Item>>(
        _ own: PageState<Item>.Load,
        _ loadRecorder: PageLoadRecorder,
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        let page: Page<Item>
        do {
            page = try await loadRecorder.watching { try await load(own.request).page }
        } catch {
            let error = APIError(error)
            if loadRecorder.isOver { throw supersede(own) }
            if error.refusedStatus != nil, let (first, loadRecorder) = restart(own, askedFor: loadRecorder.origins) {
                return try await carryOut(first, loadRecorder, load)
            }
            throw fail(own, error)
        }
        // A page of an earlier environment or user must not be added to the list.
        if loadRecorder.isOver { throw supersede(own) }
        if let (first, loadRecorder) = restart(own, askedFor: loadRecorder.origins) {
            return try await carryOut(first, loadRecorder, load)
        }
        return try commit(own, page, askedFor: loadRecorder.origins)
    }

    /// Starts a load of the first page if a `loadMore` has loaded a page for another environment or user than the list,
    /// and returns the new load.
    private func restart(
        _ load: PageState<Item>.Load,
        askedFor origins: PageOrigins
    ) -> (PageState<Item>.Load, PageLoadRecorder)? {
        let loadRecorder = PageLoadRecorder()
        let (first, effects) = state.withLock { state -> (PageState<Item>.Load?, RecorderState<Item>.Effects) in
            let first = state.restart(load, askedFor: origins)
            if first != nil { state.loadRecorder = loadRecorder }
            return (first, first == nil ? RecorderState.Effects() : state.endLoad(with: .superseded))
        }
        effects.run()
        return first.map { ($0, loadRecorder) }
    }

    /// Ends a load whose page belongs to an earlier environment or user.
    ///
    /// The callers that joined it check again what to load.
    private func supersede(_ load: PageState<Item>.Load) -> APIError {
        fail(load, settings.failure(.cancelled(.superseded)))
    }

    private func commit(
        _ load: PageState<Item>.Load,
        _ page: Page<Item>,
        askedFor origins: PageOrigins
    ) throws(APIError) -> [Item] {
        let arrival = settings.arrival(of: page, for: load.request)
        let (ending, effects) = state.withLock { state -> (RecorderState<Item>.Ending, RecorderState<Item>.Effects) in
            let ending: RecorderState<Item>.Ending
            switch state.pages.commit(load, arrival) {
            case .items(let items): ending = .items(items)
            case .nothing(.noData) where settings.allowsEmptyList: ending = .items([])
            case .nothing(let reason): ending = .failed(settings.failure(.list(reason)))
            case .superseded: return (.superseded, RecorderState.Effects())
            }
            state.note(origins, of: load)
            state.lastLoaded = Date()
            state.lastError = nil
            return (ending, state.endLoad(with: ending))
        }
        effects.run()
        switch ending {
        case .items(let items): return items
        case .failed(let error): throw error
        case .superseded, .reset: throw settings.failure(.cancelled(.superseded))
        }
    }

    /// Ends a load that failed.
    ///
    /// The callers that joined it get the same error. If the call that started the load was cancelled, the callers that
    /// joined it check again, and the first of them starts a new load. The failure of a load that was replaced has no
    /// effect.
    private func fail(_ load: PageState<Item>.Load, _ error: APIError) -> APIError {
        let (reported, effects) = state.withLock { state -> (APIError, RecorderState<Item>.Effects) in
            guard state.pages.running?.id == load.id else {
                let end = error.isCancellation ? error : settings.failure(.cancelled(.superseded))
                return (end, RecorderState.Effects())
            }
            if state.pages.end(load, refusedBy: error) {
                let end = settings.failure(.list(.noMoreData))
                state.lastError = nil
                return (end, state.endLoad(with: .failed(end)))
            }
            state.pages.fail(load)
            state.lastError = error.isCancellation ? state.lastError : error
            return (error, state.endLoad(with: error.isCancellation ? .superseded : .failed(error)))
        }
        effects.run()
        return reported
    }

    /// Waits until a load that another call started has ended, or until the current task is cancelled.
    private nonisolated(nonsending) func ending(of load: PageState<Item>.Load) async -> RecorderState<Item>.Ending {
        let waiter = Waiter<RecorderState<Item>.Ending>()
        guard state.withLock({ $0.add(waiter, for: load.id) }) else { return .superseded }
        return await waiter.outcome { [self] in
            state.withLock { $0.remove(waiter) }
            return .superseded
        }
    }
}
