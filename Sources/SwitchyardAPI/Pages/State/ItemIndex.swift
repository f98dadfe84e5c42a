/// Items of a page with the names that the app's code gives them; made outside every lock.
struct NamedItems<Item: Sendable>: Sendable {
    let items: [Item]
    /// One for each item, of the type that the index works with; `nil` when items have none.
    fileprivate let names: (any Sendable)?
}

/// Finds items that a list holds already.
protocol ItemIndex<Item>: Sendable {
    associatedtype Item: Sendable

    /// The items of a page with their names, for ``merge(_:into:)`` of an index of the same kind.
    func named(_ page: [Item]) -> NamedItems<Item>

    /// Appends the new items of a page to `items`, puts the others in the place of their older selves, and returns the
    /// new ones.
    mutating func merge(_ page: NamedItems<Item>, into items: inout [Item]) -> [Item]

    /// Returns the items that have not been seen, without keeping any.
    mutating func unseen(in page: [Item]) -> [Item]

    /// An index of the same kind that knows nothing.
    func emptied() -> any ItemIndex<Item>

    /// Whether two items have one id.
    func isSame(_ left: Item, _ right: Item) -> Bool

    /// Returns the items without repeated ids, and an index of the same kind that contains them.
    func indexing(_ items: [Item]) -> (items: [Item], index: any ItemIndex<Item>)
}

/// Takes every item for a new one.
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

/// Knows items by an id.
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
