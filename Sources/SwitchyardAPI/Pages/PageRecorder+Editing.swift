import SwitchyardServices

/// Changes that the app makes to a list itself, for example after it has created or deleted an item.
///
/// Such a change repeats a change that the server has already made, so the total is adjusted. With
/// ``PageStrategy/offset``, the offset of the next page is adjusted too. Page numbers cannot be adjusted, so an item
/// may be repeated or missed at the boundary of two pages. A recorder that knows the ids of items lists each item once.
/// A refresh replaces all changes by the server's state.
extension PageRecorder {
    /// Inserts an item.
    ///
    /// If an item with the same id is in the list, it is removed first. A position outside the list is moved to the
    /// nearest valid position.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - position: The position of the item in ``items``, by default the first position.
    public func insert(_ item: Item, at position: Int = 0) {
        let index = settings.index
        edit { items in
            items.removeAll { index.isSame($0, item) }
            items.insert(item, at: min(max(0, position), items.count))
        }
    }

    /// Replaces the item that has the same id.
    ///
    /// - Parameter item: The new item.
    /// - Returns: Whether an item was replaced. The result is always `false` for a recorder that knows no ids.
    @discardableResult
    public func replace(_ item: Item) -> Bool {
        let index = settings.index
        return replaceFirst(with: item) { index.isSame($0, item) }
    }

    /// Replaces the first item for which a condition is true.
    ///
    /// - Parameters:
    ///   - item: The new item.
    ///   - condition: Returns whether an item is the one to replace. It may be called several times for the same item.
    /// - Returns: Whether an item was replaced.
    @discardableResult
    public func replaceFirst(with item: Item, where condition: (Item) -> Bool) -> Bool {
        edit { items in
            guard let position = items.firstIndex(where: condition) else { return false }
            items[position] = item
            return true
        }
    }

    /// Removes the items for which a condition is true.
    ///
    /// - Parameter condition: Returns whether to remove an item. It may be called several times for the same item.
    /// - Returns: The items that were removed.
    @discardableResult
    public func removeAll(where condition: (Item) -> Bool) -> [Item] {
        edit { items in
            let removed = items.filter(condition)
            if !removed.isEmpty { items.removeAll(where: condition) }
            return removed
        }
    }

    /// Removes the item at a position.
    ///
    /// - Parameter position: The position in ``items``.
    /// - Returns: The removed item, or `nil` if there is no item at the position.
    @discardableResult
    public func remove(at position: Int) -> Item? {
        edit { items in items.indices.contains(position) ? items.remove(at: position) : nil }
    }

    /// Changes the items with a closure.
    ///
    /// If several items have the same id after the change, only the first of these items is kept. The closure is called
    /// outside the recorder's lock. If the list changes in the meantime, for example because a page arrives, the
    /// closure is called again with the new items.
    ///
    /// - Parameter change: A closure that changes the items. It may be called several times.
    /// - Returns: The result of the last call of `change`.
    @discardableResult
    public func edit<Result>(_ change: (inout [Item]) throws -> Result) rethrows -> Result {
        while true {
            let (before, revision) = state.withLock { ($0.pages.items, $0.pages.revision) }
            var items = before
            let result = try change(&items)
            let (kept, index) = settings.index.indexing(items)
            let effects = state.withLock { state -> RecorderState<Item>.Effects? in
                guard state.pages.replaceItems(with: kept, index, after: revision) else { return nil }
                return state.announce()
            }
            guard let effects else { continue }
            effects.run()
            return result
        }
    }
}
