/// The requests under way, by identifier.
struct DispatchTable {
    private var exchanges: [RequestID: Exchange] = [:]
    private var isClosed = false

    /// How many requests are under way.
    var count: Int { exchanges.count }

    /// The request of that identifier, if it is under way.
    subscript(id: RequestID) -> Exchange? { exchanges[id] }

    /// Enters a request; `false` when the table is closed.
    mutating func insert(_ exchange: Exchange) -> Bool {
        guard !isClosed else { return false }
        exchanges[exchange.id] = exchange
        return true
    }

    mutating func remove(_ id: RequestID) {
        exchanges[id] = nil
    }

    /// The requests of one owner, or all of them.
    func exchanges(of owner: ClientCore.OwnerID?) -> [Exchange] {
        guard let owner else { return Array(exchanges.values) }
        return exchanges.values.filter { $0.owner == owner }
    }

    /// Closes the table and returns what is in it.
    mutating func close() -> [Exchange] {
        isClosed = true
        return Array(exchanges.values)
    }
}
