/// The requests under way, by identifier.
struct DispatchTable {
    private var requests: [RequestID: any DispatchedRequest] = [:]
    private var isClosed = false

    /// How many requests are under way.
    var count: Int { requests.count }

    /// The request of that identifier, if it is under way.
    subscript(id: RequestID) -> (any DispatchedRequest)? { requests[id] }

    /// Enters a request.
    ///
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    mutating func insert(_ request: any DispatchedRequest) throws(RequestFailure.Reason) {
        guard !isClosed else { throw .closed }
        guard requests[request.id] == nil else { throw .duplicateID }
        requests[request.id] = request
    }

    /// Takes a request out, unless another has taken its identifier.
    mutating func remove(_ request: any DispatchedRequest) {
        if requests[request.id] === request { requests[request.id] = nil }
    }

    /// The requests of one owner, or all of them.
    func requests(of owner: ClientCore.OwnerID?) -> [any DispatchedRequest] {
        guard let owner else { return Array(requests.values) }
        return requests.values.filter { $0.owner == owner }
    }

    /// Closes the table and returns what is in it.
    mutating func close() -> [any DispatchedRequest] {
        isClosed = true
        return Array(requests.values)
    }
}
