import SwitchyardServices

/// The pages of a list, one after the other, each with the items that are new.
///
/// It ends with the list; the failure of a load ends it too, and so does another environment or user of the manager that
/// loads, with ``APIError/Cancellation/superseded``. Each iterator walks the list from its beginning. Letting the
/// iterator go cancels the loads ahead.
public struct PageSequence<Item: Sendable>: AsyncSequence, Sendable {
    /// The items of one page.
    public typealias Element = [Item]
    /// Why a load failed.
    public typealias Failure = APIError

    let settings: PageSettings<Item>
    let ahead: Int
    let load: @Sendable (PageRequest) async throws -> Page<Item>

    /// Starts at the first page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(lookahead: PageLookahead(PageWalker(settings, load: load), ahead: ahead))
    }

    /// Walks the pages.
    public struct Iterator: AsyncIteratorProtocol {
        let lookahead: PageLookahead<Item>

        /// Returns the next page, or `nil` at the end.
        ///
        /// - Throws: ``APIError`` when the page cannot be loaded.
        public nonisolated(nonsending) mutating func next() async throws(APIError) -> [Item]? {
            try await lookahead.next()
        }

        /// Returns the next page, or `nil` at the end; the isolation of the caller plays no part.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> [Item]? {
            try await lookahead.next()
        }
    }
}

/// The items of a list, one after the other, none twice if the recorder knows their ids.
public struct ItemSequence<Item: Sendable>: AsyncSequence, Sendable {
    /// One item.
    public typealias Element = Item
    /// Why a load failed.
    public typealias Failure = APIError

    let pages: PageSequence<Item>

    /// Starts at the first item.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: pages.makeAsyncIterator())
    }

    /// Walks the items.
    public struct Iterator: AsyncIteratorProtocol {
        var pages: PageSequence<Item>.Iterator
        var rest: ArraySlice<Item> = []

        /// Returns the next item, or `nil` at the end.
        ///
        /// - Throws: ``APIError`` when a page cannot be loaded.
        public nonisolated(nonsending) mutating func next() async throws(APIError) -> Item? {
            if !rest.isEmpty { try await pages.lookahead.checkUser() }
            while rest.isEmpty {
                guard let page = try await pages.next() else { return nil }
                rest = page[...]
            }
            return rest.removeFirst()
        }

        /// Returns the next item, or `nil` at the end; the isolation of the caller plays no part.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Item? {
            try await next()
        }
    }
}

extension PageRecorder {
    /// Returns all pages of the list from the first one; the recorder's own items stay the same.
    ///
    /// - Parameters:
    ///   - ahead: The number of pages that are loaded ahead of the reader; default is 0, at most 1,000.
    ///   - load: Loads the requested page.
    /// - Returns: The pages.
    public func allPages<Content: PageContent<Item> & Sendable>(
        ahead: Int = 0,
        _ load: @escaping @Sendable (PageRequest) async throws -> Content
    ) -> PageSequence<Item> {
        PageSequence(settings: settings, ahead: ahead) { try await load($0).page }
    }

    /// Returns all items of the list from the first one; the recorder's own items stay the same.
    ///
    /// - Parameters:
    ///   - ahead: The number of pages that are loaded ahead of the reader; default is 1, at most 1,000.
    ///   - load: Loads the requested page.
    /// - Returns: The items.
    public func allItems<Content: PageContent<Item> & Sendable>(
        ahead: Int = 1,
        _ load: @escaping @Sendable (PageRequest) async throws -> Content
    ) -> ItemSequence<Item> {
        ItemSequence(pages: allPages(ahead: ahead, load))
    }
}

/// The states of a paged list: the current one and each change, until the recorder is released.
///
/// A slow reader gets the newest state and misses those in between.
public struct PageUpdates<Item: Sendable>: AsyncSequence, Sendable {
    /// The state of the list.
    public typealias Element = PageSnapshot<Item>
    /// It never fails.
    public typealias Failure = Never

    let state: Locked<RecorderState<Item>>

    /// Starts with the state at this moment.
    public func makeAsyncIterator() -> Iterator {
        Iterator(state: state, signals: state.signals(to: \.listeners).makeAsyncIterator())
    }

    /// Reads the states.
    public struct Iterator: AsyncIteratorProtocol {
        let state: Locked<RecorderState<Item>>
        var signals: AsyncStream<Void>.Iterator

        /// Returns the state after the next change, or `nil` when the recorder is gone.
        public mutating func next() async -> PageSnapshot<Item>? {
            // The state is read after the signal, so it is never older than the signalled one.
            guard await signals.next() != nil else { return nil }
            return state.withLock { $0.snapshot }
        }
    }
}

extension PageRecorder {
    /// The loaded items and the load in flight: the current state and each change.
    public var updates: PageUpdates<Item> { PageUpdates(state: state) }
}
