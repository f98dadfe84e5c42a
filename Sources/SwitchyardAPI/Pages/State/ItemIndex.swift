/// The items of a page with their ids.
///
/// The app's closure that returns the ids is called outside every lock.
struct NamedItems<Item: Sendable>: Sendable {
    let items: [Item]
    /// An array with the id of each item, in the type of ids that the index uses, or `nil` if items have no ids.
    fileprivate let names: (any Sendable)?
}

/// An index that finds the items that are already in a list.
protocol ItemIndex<Item>: Sendable {
    associatedtype Item: Sendable

    /// Returns the items of a page with their ids, for ``merge(_:into:)`` of an index of the same type.
    func named(_ page: [Item]) -> NamedItems<Item>

    /// Appends the new items of a page to `items`, replaces older items by the items with the same ids, and returns the
    /// new items.
    mutating func merge(_ page: NamedItems<Item>, into items: inout [Item]) -> [Item]

    /// Returns the items whose ids have not been seen before, and stores the ids but not the items.
    mutating func unseen(in page: [Item]) -> [Item]

    /// Returns an empty index of the same type.
    func emptied() -> any ItemIndex<Item>

    /// Returns whether two items have the same id.
    func isSame(_ left: Item, _ right: Item) -> Bool

    /// Returns the items without repeated ids, and an index of the same type that contains them.
    func indexing(_ items: [Item]) -> (items: [Item], index: any ItemIndex<Item>)
}

/// An index for items without ids.
///
/// Every item counts as new.
struct NoIndex<Item: Sendable>: ItemIndex {
    func named(_ page: [Item]) -> NamedItems<Item> { NamedItems(items: page, names: nil) }

    mutating func merge(_ page: NamedItems<Item>, into items: inout [Item]) -> [Item] {
        items.append(contentsOf: page.items)
        return page.items
    }

    mutating func unseen(in page: [Item]) -> [Item] { page }

    func emptied() -> any ItemIndex<Item> { self }

    func isSame(_ left: Item, _ right: Item) -> Bool { false }

    func indexing(_ items: [Item]) -> (items: [Item], index: any ItemIndex<Item>) { (items, self) }
}

/// An index that identifies items by an id.
struct IdentityIndex<Item: Sendable, ID: Hashable & Sendable>: ItemIndex {
    let identity: @Sendable (Item) -> ID
    private var places: [ID: Int] = [:]

    init(_ identity: @escaping @Sendable (Item) -> ID) {
        self.identity = identity
    }

    func named(_ page: [Item]) -> NamedItems<Item> { NamedItems(items: page, names: page.map(identity)) }

    mutating func merge(_ page: NamedItems<Item>, into items: inout [Item]) -> [Item] {
        let start = items.count
        let names = page.names as? [ID] ?? page.items.map(identity)
        for (item, id) in zip(page.items, names) {
            if let place = places[id] {
                items[place] = item
            } else {
                places[id] = items.count
                items.append(item)
            }
        }
        return Array(items[start...])
    }

    mutating func unseen(in page: [Item]) -> [Item] {
        page.filter { places.updateValue(0, forKey: identity($0)) == nil }
    }

    func emptied() -> any ItemIndex<Item> { IdentityIndex(identity) }

    func isSame(_ left: Item, _ right: Item) -> Bool { identity(left) == identity(right) }

    func indexing(_ items: [Item]) -> (items: [Item], index: any ItemIndex<Item>) {
        var index = IdentityIndex(identity)
        var kept: [Item] = []
        for item in items {
            let id = identity(item)
            guard index.places[id] == nil else { continue }
            index.places[id] = kept.count
            kept.append(item)
        }
        return (kept, index)
    }
}
