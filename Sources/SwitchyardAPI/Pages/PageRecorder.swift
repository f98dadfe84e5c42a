import Foundation
import SwitchyardServices

/// Records how far a list has been loaded, and loads the next page.
///
///     private let pages = PageRecorder<Topic>(pageSize: 20)
///
///     func refreshTopics() async throws(APIError) -> [Topic] {
///         try await pages.refresh { page in
///             try await self.value([Topic].self, for: .topics(page: page.number, size: page.size))
///         }
///     }
///
/// - A page counts only if its load succeeds: a load that fails, is cancelled or is too late leaves the list unchanged,
///   and the next attempt requests the same page.
/// - A refresh keeps the old items until the new ones have arrived. It replaces a `loadMore` in flight, which ends with
///   ``APIError/Cancellation/superseded``.
/// - A second call of the same kind joins the one in flight and gets the same result. A `loadMore` waits for a refresh.
///   A closure that loads must not wait for its own load: such a call in its task fails with
///   ``APIError/ConfigurationReason/other(_:)``, and one that it makes in another task and awaits never returns.
/// - If the environment or the user changes, a load in flight ends with ``APIError/Cancellation/superseded``, and later
///   loads do not join it.
/// - If the environment or the user of the loading manager has changed, a `loadMore` starts the list again: a list
///   never contains the data of two environments or users.
/// - An empty first page is ``APIError/Code/noData`` unless `allowsEmptyList` is set. An empty later page is
///   ``APIError/Code/noMoreData``; from then on every `loadMore` fails with it immediately, until the next refresh.
///
/// Create one recorder for each list, that is for each endpoint and set of arguments. Any thread may call it.
public final class PageRecorder<Item: Sendable>: Sendable {
    let state: Locked<RecorderState<Item>>
    let settings: PageSettings<Item>

    /// Creates a recorder that treats every item as a new one.
    ///
    /// - Parameters:
    ///   - pageSize: The number of items of a page; at least 1, default is 10.
    ///   - strategy: The strategy that names the next page; default is page numbers from 1.
    ///   - pageLimit: The maximum number of pages of a list, which guards against an endless server; default is
    ///     100,000.
    ///   - messages: The messages of the recorder's own errors, such as that of an empty list; preferably those of the
    ///     manager's module.
    ///   - allowsEmptyList: Whether an empty first page is an empty list instead of the error ``APIError/Code/noData``;
    ///     default is `false`.
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
    /// An item whose id is in the list already replaces the older item and is not listed twice.
    ///
    /// - Parameters:
    ///   - pageSize: The number of items of a page; at least 1, default is 10.
    ///   - strategy: The strategy that names the next page; default is page numbers from 1.
    ///   - pageLimit: The maximum number of pages of a list, which guards against an endless server; default is
    ///     100,000.
    ///   - messages: The messages of the recorder's own errors, such as that of an empty list; preferably those of the
    ///     manager's module.
    ///   - allowsEmptyList: Whether an empty first page is an empty list instead of the error ``APIError/Code/noData``;
    ///     default is `false`.
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

    /// How many items are asked for at a time.
    public var pageSize: Int { settings.cursor.size }

    /// The items loaded so far, in the order of the list.
    public var items: [Item] { state.withLock { $0.pages.items } }

    /// The loaded items and the load in flight, at this moment.
    public var snapshot: PageSnapshot<Item> { state.withLock { $0.snapshot } }

    /// The page that came last, as the load gave it; `nil` before the first.
    public var lastPage: Page<Item>? { state.withLock { $0.pages.lastPage } }

    /// Whether there is, or may be, a further page.
    public var hasMore: Bool { state.withLock { $0.pages.cursor.hasMore } }

    /// Whether a load is under way.
    public var isLoading: Bool { state.withLock { $0.pages.running != nil } }

    /// How many calls wait for the load of another.
    package var waiting: Int { state.withLock { $0.waiting } }

    /// Removes everything; loads in flight and their waiters end with ``APIError/Cancellation/superseded``.
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
    /// Whether an empty first page is an empty list, and no error.
    let allowsEmptyList: Bool

    /// An error of the list itself.
    func failure(_ reason: APIError.Reason) -> APIError { cursor.failure(reason) }

    /// Returns the arrival of a page, with the results of the app's closures.
    func arrival(of page: Page<Item>, for request: PageRequest) -> PageArrival<Item> {
        PageArrival(
            page: page,
            items: index.named(page.items),
            successor: cursor.strategy.successor(of: request, page: page)
        )
    }
}

/// A page that has arrived, with the results of the app's closures, which are called outside the lock.
struct PageArrival<Item: Sendable>: Sendable {
    let page: Page<Item>
    let items: NamedItems<Item>
    let successor: PageCursor<Item>.Next
}

extension PageRecorder {
    /// Loads the first page and replaces all items by its items when they arrive.
    ///
    /// - Parameter load: Loads the requested page. Its errors become an ``APIError``.
    /// - Returns: The items of the first page.
    /// - Throws: ``APIError``: the error of `load`, or ``APIError/Code/noData`` if the page is empty.
    @discardableResult
    public nonisolated(nonsending) func refresh<Content: PageContent<Item>>(
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        try await perform(.refresh, load)
    }

    /// Loads the next page and appends its items; before the first refresh, loads the first page.
    ///
    /// If the page is loaded in another environment or for another user than the earlier pages, the first page is
    /// loaded instead, and the list starts again with it.
    ///
    /// - Parameter load: Loads the requested page. It is not called if there is no further page.
    /// - Returns: The items that are new in the list.
    /// - Throws: ``APIError``: the error of `load`; ``APIError/Code/noMoreData`` at the end of the list;
    ///   ``APIError/Cancellation/superseded`` if a refresh replaced the load.
    @discardableResult
    public nonisolated(nonsending) func loadMore<Content: PageContent<Item>>(
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        try await perform(.more, load)
    }

    /// Loads a given page and starts the list again with it.
    ///
    /// - Parameters:
    ///   - number: The page's number from 1; a lower number counts as 1.
    ///   - load: Loads the requested page.
    /// - Returns: The items of the page.
    /// - Throws: ``APIError``: the error of `load`; ``APIError/Code/noData`` or ``APIError/Code/noMoreData`` if the
    ///   page is empty, which leaves the list empty; ``APIError/ConfigurationReason/unsupported(_:)`` if the list has
    ///   no page numbers.
    @discardableResult
    public nonisolated(nonsending) func loadPage<Content: PageContent<Item>>(
        _ number: Int,
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        let index = max(1, number) - 1
        let (distance, overflow) = index.multipliedReportingOverflow(by: pageSize)
        let position: PagePosition? =
            switch settings.cursor.strategy.first {
            case .number(let first): .number(first.addingReportingOverflow(index).partialValue)
            case .offset(let first): overflow ? nil : .offset(first.addingReportingOverflow(distance).partialValue)
            default: nil
            }
        guard let position else {
            throw settings.failure(.configuration(.unsupported("page \(number) of a list without page numbers")))
        }
        return try await perform(.jump(position, index: index), load)
    }

    private nonisolated(nonsending) func perform<Content: PageContent<Item>>(
        _ action: PageState<Item>.Action,
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        while true {
            dropLoadOfBefore(action)
            let witness = PageLoadRecorder()
            let (start, effects) = try begin(action, witness, startsAnew: isListOfBefore)
            effects.run()
            switch start {
            case .load(let own):
                return try await carryOut(own, witness, load)
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

    private static var ownLoad: String { "a load of the list waits for itself" }

    /// Drops the load in flight if the environment or the user has changed, or if a write has changed what a load of
    /// the whole list requests, so that later calls do not join it.
    private func dropLoadOfBefore(_ action: PageState<Item>.Action) {
        let (running, witness) = state.withLock { ($0.pages.running, $0.witness) }
        // The app's closure that names the user is called without the lock.
        guard let running, let witness,
            witness.isOver || action.replacesList && running.action.replacesList && witness.isOutdated
        else { return }
        let effects = state.withLock { state -> RecorderState<Item>.Effects in
            guard state.pages.running?.id == running.id else { return RecorderState.Effects() }
            state.pages.fail(running)
            return state.endLoad(with: .superseded)
        }
        effects.run()
    }

    /// Whether the items are of another environment or user than the present ones.
    private var isListOfBefore: Bool { state.withLock { $0.origins }.areOver }

    private func begin(
        _ wanted: PageState<Item>.Action,
        _ witness: PageLoadRecorder,
        startsAnew: Bool
    ) throws(APIError) -> (PageState<Item>.Start, RecorderState<Item>.Effects) {
        guard !Task.isCancelled else { throw settings.failure(.cancelled(.caller)) }
        let task = withUnsafeCurrentTask { $0?.hashValue }
        return try state.withLock { state throws(APIError) in
            let overtakes = state.pages.running != nil
            // A `loadMore` waits for a load that starts the list again, and continues after it.
            let isBehind = state.pages.running?.action.replacesList ?? false
            let action = startsAnew && !isBehind ? wanted.anew : wanted
            let start = try state.pages.begin(action)
            guard case .load = start else {
                // This task is in the closure of the load that it would wait for.
                guard state.loader != task else { throw settings.failure(.configuration(.other(Self.ownLoad))) }
                return (start, RecorderState.Effects())
            }
            state.loader = task
            state.witness = witness
            return (start, overtakes ? state.endLoad(with: .superseded) : state.announce())
        }
    }

    private nonisolated(nonsending) func carryOut<Content: PageContent<Item>>(
        _ own: PageState<Item>.Load,
        _ witness: PageLoadRecorder,
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        let page: Page<Item>
        do {
            page = try await witness.watching { try await load(own.request).page }
        } catch {
            let error = APIError(error)
            if witness.isOver { throw supersede(own) }
            if error.refusedStatus != nil, let (first, witness) = restart(own, askedFor: witness.origins) {
                return try await carryOut(first, witness, load)
            }
            throw fail(own, error)
        }
        // A page of an earlier environment or user belongs to no list.
        if witness.isOver { throw supersede(own) }
        if let (first, witness) = restart(own, askedFor: witness.origins) {
            return try await carryOut(first, witness, load)
        }
        return try commit(own, page, askedFor: witness.origins)
    }

    /// Returns the load of the first page if it has to replace a `loadMore` whose page belongs to another list.
    private func restart(
        _ load: PageState<Item>.Load,
        askedFor origins: PageOrigins
    ) -> (PageState<Item>.Load, PageLoadRecorder)? {
        let witness = PageLoadRecorder()
        let (first, effects) = state.withLock { state -> (PageState<Item>.Load?, RecorderState<Item>.Effects) in
            let first = state.restart(load, askedFor: origins)
            if first != nil { state.witness = witness }
            return (first, first == nil ? RecorderState.Effects() : state.endLoad(with: .superseded))
        }
        effects.run()
        return first.map { ($0, witness) }
    }

    /// Ends a load whose page belongs to an earlier environment or user; its joined callers check again.
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
    /// Joined callers get the same error. If the first caller was cancelled, the joined callers check again, and the
    /// first of them loads. The failure of a load that was replaced has no effect.
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

    /// Waits until a load of another call has ended, or until the own task is cancelled.
    private nonisolated(nonsending) func ending(of load: PageState<Item>.Load) async -> RecorderState<Item>.Ending {
        let waiter = Waiter<RecorderState<Item>.Ending>()
        guard state.withLock({ $0.add(waiter, for: load.id) }) else { return .superseded }
        return await waiter.outcome { [self] in
            state.withLock { $0.remove(waiter) }
            return .superseded
        }
    }
}
