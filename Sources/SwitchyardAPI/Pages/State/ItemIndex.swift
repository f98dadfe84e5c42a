/// Finds items that a list holds already.
protocol ItemIndex<Item>: Sendable {
    associatedtype Item: Sendable

    /// Appends the new items of a page to `items`, puts the others in the place of their older selves, and returns the
    /// new ones.
    mutating func merge(_ page: [Item], into items: inout [Item]) -> [Item]

    /// Returns the items that have not been seen, without keeping any.
    mutating func unseen(in page: [Item]) -> [Item]

    /// An index of the same kind that knows nothing.
    func emptied() -> any ItemIndex<Item>
}

/// Takes every item for a new one.
struct NoIndex<Item: Sendable>: ItemIndex {
    mutating func merge(_ page: [Item], into items: inout [Item]) -> [Item] {
        items.append(contentsOf: page)
        return page
    }

    mutating func unseen(in page: [Item]) -> [Item] { page }

    func emptied() -> any ItemIndex<Item> { self }
}

/// Knows items by an id.
struct IdentityIndex<Item: Sendable, ID: Hashable & Sendable>: ItemIndex {
    let identity: @Sendable (Item) -> ID
    private var places: [ID: Int] = [:]

    init(_ identity: @escaping @Sendable (Item) -> ID) {
        self.identity = identity
    }

    mutating func merge(_ page: [Item], into items: inout [Item]) -> [Item] {
        let start = items.count
        for item in page {
            let id = identity(item)
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
}
