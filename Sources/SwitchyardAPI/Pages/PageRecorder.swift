import Foundation
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
/// - A load under way when the environment or the user changes ends with ``APIError/Cancellation/superseded``, and later
///   loads do not join it.
/// - A load of more starts the list again when the manager that loads has come into another environment, or to another
///   user, since: what belongs to two of them is never in one list.
/// - An empty first page is ``APIError/Code/noData`` unless `allowsEmptyList` is set, an empty later one ``APIError/Code/noMoreData``; from then on a
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
    ///   - allowsEmptyList: Whether an empty first page is an empty list, and not the error ``APIError/Code/noData``; it is
    ///     the error by default.
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
    ///   - allowsEmptyList: Whether an empty first page is an empty list, and not the error ``APIError/Code/noData``; it is
    ///     the error by default.
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
    /// Whether an empty first page is an empty list, and no error.
    let allowsEmptyList: Bool

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

extension PageRecorder {
    /// Loads the first page, and puts its items in the place of all others when they are there.
    ///
    /// - Parameter load: Loads the page asked for. What it throws becomes an ``APIError``.
    /// - Returns: The items of the first page.
    /// - Throws: ``APIError``: what `load` threw, or ``APIError/Code/noData`` when the page is empty.
    @discardableResult
    public nonisolated(nonsending) func refresh<Content: PageContent<Item>>(
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        try await perform(.refresh, load)
    }

    /// Loads the next page and appends its items; before the first refresh, loads the first page.
    ///
    /// If the page comes to a manager from another environment, or for another user, than those before it, the first page
    /// is loaded in its place, and the list starts anew with that.
    ///
    /// - Parameter load: Loads the page asked for. It is not called when there is no further page.
    /// - Returns: The items that are new in the list.
    /// - Throws: ``APIError``: what `load` threw; ``APIError/Code/noMoreData`` at the end of the list;
    ///   ``APIError/Cancellation/superseded`` when a refresh took its place.
    @discardableResult
    public nonisolated(nonsending) func loadMore<Content: PageContent<Item>>(
        _ load: (PageRequest) async throws -> Content
    ) async throws(APIError) -> [Item] {
        try await perform(.more, load)
    }

    /// Loads a given page, and lets the list start anew with it.
    ///
    /// - Parameters:
    ///   - number: The page's number from 1; a lower one is taken for 1.
    ///   - load: Loads the page asked for.
    /// - Returns: The items of the page.
    /// - Throws: ``APIError``: what `load` threw; ``APIError/Code/noData`` or ``APIError/Code/noMoreData`` when the page
    ///   is empty, which leaves the list empty; ``APIError/ConfigurationReason/unsupported(_:)`` when the list has no page numbers.
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
            let witness = PageWitness()
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

    /// Drops the load under way where environment or user are others by now, or a write has changed what a load of the
    /// whole list asks for: whoever comes now does not join it.
    private func dropLoadOfBefore(_ action: PageState<Item>.Action) {
        let (running, witness) = state.withLock { ($0.pages.running, $0.witness) }
        // Asked without the lock: it is the app that says who its user is.
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
        _ witness: PageWitness,
        startsAnew: Bool
    ) throws(APIError) -> (PageState<Item>.Start, RecorderState<Item>.Effects) {
        guard !Task.isCancelled else { throw settings.failure(.cancelled(.caller)) }
        let task = withUnsafeCurrentTask { $0?.hashValue }
        return try state.withLock { state throws(APIError) in
            let overtakes = state.pages.running != nil
            // A load of more waits for one that starts the list anew already, and goes on behind that.
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
        _ witness: PageWitness,
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
        // What has come for an environment or a user of before is in no list.
        if witness.isOver { throw supersede(own) }
        if let (first, witness) = restart(own, askedFor: witness.origins) {
            return try await carryOut(first, witness, load)
        }
        return try commit(own, page, askedFor: witness.origins)
    }

    /// The load of the first page, if that is to take the place of a load of more whose page belongs to another list.
    private func restart(
        _ load: PageState<Item>.Load,
        askedFor origins: PageOrigins
    ) -> (PageState<Item>.Load, PageWitness)? {
        let witness = PageWitness()
        let (first, effects) = state.withLock { state -> (PageState<Item>.Load?, RecorderState<Item>.Effects) in
            let first = state.restart(load, askedFor: origins)
            if first != nil { state.witness = witness }
            return (first, first == nil ? RecorderState.Effects() : state.endLoad(with: .superseded))
        }
        effects.run()
        return first.map { ($0, witness) }
    }

    /// Ends a load whose page belongs to an environment or a user of before; whoever joined it looks again.
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
    /// Whoever joined it gets the same error, except that a cancelled leader does not cancel those who joined: they
    /// look again, and the first of them loads. How a load failed whose place another has taken matters to nobody.
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
        let waiter = state.withLock { $0.newWaiter() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<RecorderState<Item>.Ending, Never>) in
                let waits = state.withLock { state in
                    !Task.isCancelled && state.wait(for: load.id, as: waiter, continuation)
                }
                if !waits { continuation.resume(returning: .superseded) }
            }
        } onCancel: {
            state.withLock { $0.leave(waiter) }?.resume(returning: .superseded)
        }
    }
}
