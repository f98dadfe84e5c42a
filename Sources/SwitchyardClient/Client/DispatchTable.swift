/// The requests under way, by identifier.
struct DispatchTable {
    private var exchanges: [RequestID: Exchange] = [:]
    private var isClosed = false

    /// How many requests are under way.
    var count: Int { exchanges.count }

    /// The request of that identifier, if it is under way.
    subscript(id: RequestID) -> Exchange? { exchanges[id] }

    /// Enters a request.
    ///
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    mutating func insert(_ exchange: Exchange) throws(RequestFailure.Reason) {
        guard !isClosed else { throw .closed }
        guard exchanges[exchange.id] == nil else { throw .duplicateID }
        exchanges[exchange.id] = exchange
    }

    /// Takes a request out, unless another has taken its identifier.
    mutating func remove(_ exchange: Exchange) {
        if exchanges[exchange.id] === exchange { exchanges[exchange.id] = nil }
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
