import SwitchyardServices

/// The pages of a list, one after the other.
///
/// Each element contains the items of a page that are new.
///
/// The sequence ends at the end of the list. If a load fails, the sequence throws the error and ends. If the
/// environment or the user of the loading manager changes, it throws ``APIError/Cancellation/superseded``. Each
/// iterator reads the list from its beginning. Releasing the iterator cancels the loads that are ahead of it.
public struct PageSequence<Item: Sendable>: AsyncSequence, Sendable {
    /// The new items of one page.
    public typealias Element = [Item]
    /// The error of a load.
    public typealias Failure = APIError

    let settings: PageSettings<Item>
    let ahead: Int
    let load: @Sendable (PageRequest) async throws -> Page<Item>

    /// Returns an iterator that starts at the first page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(lookahead: PageLookahead(PageWalker(settings, load: load), ahead: ahead))
    }

    /// An iterator over the pages.
    public struct Iterator: AsyncIteratorProtocol {
        let lookahead: PageLookahead<Item>

        /// Returns the new items of the next page, or `nil` at the end of the list.
        ///
        /// - Throws: ``APIError`` if the page cannot be loaded.
        public nonisolated(nonsending) mutating func next() async throws(APIError) -> [Item]? {
            // Without the `do`, an error is thrown on another executor than the caller's (Swift 6.3).
            do throws(APIError) {
                return try await lookahead.next()
            } catch {
                throw error
            }
        }

        /// Returns the new items of the next page, or `nil` at the end of the list.
        ///
        /// The isolation of the caller has no effect.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> [Item]? {
            try await lookahead.next()
        }
    }
}

/// The items of a list, one after the other.
///
/// If the recorder knows the ids of items, no item occurs twice.
public struct ItemSequence<Item: Sendable>: AsyncSequence, Sendable {
    /// One item.
    public typealias Element = Item
    /// The error of a load.
    public typealias Failure = APIError

    let pages: PageSequence<Item>

    /// Returns an iterator that starts at the first item.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: pages.makeAsyncIterator())
    }

    /// An iterator over the items.
    public struct Iterator: AsyncIteratorProtocol {
        var pages: PageSequence<Item>.Iterator
        var rest: ArraySlice<Item> = []

        /// Returns the next item, or `nil` at the end of the list.
        ///
        /// - Throws: ``APIError`` if a page cannot be loaded.
        public nonisolated(nonsending) mutating func next() async throws(APIError) -> Item? {
            if !rest.isEmpty { try await pages.lookahead.checkUser() }
            while rest.isEmpty {
                guard let page = try await pages.next() else { return nil }
                rest = page[...]
            }
            return rest.removeFirst()
        }

        /// Returns the next item, or `nil` at the end of the list.
        ///
        /// The isolation of the caller has no effect.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Item? {
            try await next()
        }
    }
}

extension PageRecorder {
    /// Returns all pages of the list from the first page on.
    ///
    /// The recorder's own items do not change.
    ///
    /// - Parameters:
    ///   - ahead: The number of pages that are loaded ahead of the reader, 0 by default and at most 1,000.
    ///   - load: Loads the requested page.
    /// - Returns: The pages.
    public func allPages<Content: PageContent<Item> & Sendable>(
        ahead: Int = 0,
        _ load: @escaping @Sendable (PageRequest) async throws -> Content
    ) -> PageSequence<Item> {
        PageSequence(settings: settings, ahead: ahead) { try await load($0).page }
    }

    /// Returns all items of the list from the first item on.
    ///
    /// The recorder's own items do not change.
    ///
    /// - Parameters:
    ///   - ahead: The number of pages that are loaded ahead of the reader, 1 by default and at most 1,000.
    ///   - load: Loads the requested page.
    /// - Returns: The items.
    public func allItems<Content: PageContent<Item> & Sendable>(
        ahead: Int = 1,
        _ load: @escaping @Sendable (PageRequest) async throws -> Content
    ) -> ItemSequence<Item> {
        ItemSequence(pages: allPages(ahead: ahead, load))
    }
}

/// The states of a paged list, until the recorder is released.
///
/// The first state is the current one, and each change adds a state. A slow reader gets the newest state and misses the
/// states in between.
public struct PageUpdates<Item: Sendable>: AsyncSequence, Sendable {
    /// A state of the list.
    public typealias Element = PageSnapshot<Item>
    /// The sequence never fails.
    public typealias Failure = Never

    let state: Locked<RecorderState<Item>>

    /// Returns an iterator that starts with the current state.
    public func makeAsyncIterator() -> Iterator {
        Iterator(state: state, signals: state.signals(to: \.listeners).makeAsyncIterator())
    }

    /// An iterator over the states.
    public struct Iterator: AsyncIteratorProtocol {
        let state: Locked<RecorderState<Item>>
        var signals: AsyncStream<Void>.Iterator

        /// Returns the current state at first, then the state after each change, or `nil` when the recorder has been
        /// released.
        public mutating func next() async -> PageSnapshot<Item>? {
            // The state is read after the signal, so it is never older than the change that was signaled.
            guard await signals.next() != nil else { return nil }
            return state.withLock { $0.snapshot }
        }
    }
}

extension PageRecorder {
    /// The states of the list: the current state and then each change.
    public var updates: PageUpdates<Item> { PageUpdates(state: state) }
}
