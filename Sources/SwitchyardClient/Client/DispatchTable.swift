/// The requests under way, by identifier.
struct DispatchTable {
    private var requests: [RequestID: any DispatchedRequest] = [:]
    private var isClosed = false
    /// Those who wait for the last request's end.
    var watchers = IdleWatchers()
    /// How many requests have left the table while somebody waits, and have not told their callers yet.
    private var leaving = 0

    /// How many requests are under way.
    var count: Int { requests.count }

    /// The request of that identifier, if it is under way.
    subscript(id: RequestID) -> (any DispatchedRequest)? { requests[id] }

    /// Enters a request.
    ///
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    mutating func insert(_ request: any DispatchedRequest) throws(RequestFailure.Reason) {
        guard !isClosed else { throw .closed }
        guard let other = requests.updateValue(request, forKey: request.id) else { return }
        requests[request.id] = other
        throw .duplicateID
    }

    /// Takes a request out, unless another has taken its identifier.
    ///
    /// - Returns: Whether somebody waits for the last request's end; then ``left()`` is due when the caller was told.
    mutating func remove(_ request: any DispatchedRequest) -> Bool {
        guard let found = requests.removeValue(forKey: request.id) else { return false }
        guard found === request else {
            requests[request.id] = found
            return false
        }
        guard !watchers.isEmpty else { return false }
        leaving += 1
        return true
    }

    /// The requests of one owner, or all of them.
    func requests(of owner: ClientCore.OwnerID?) -> [any DispatchedRequest] {
        guard let owner else { return Array(requests.values) }
        return requests.values.filter { $0.owner == owner }
    }

    /// Refuses every further request.
    mutating func refuse() {
        isClosed = true
    }

    /// Closes the table and returns what is in it.
    mutating func close() -> [any DispatchedRequest] {
        isClosed = true
        return Array(requests.values)
    }
}

// MARK: - The last one's end

extension DispatchTable {
    /// A number for one who waits for the last request's end; `nil` when there is nothing to wait for.
    mutating func watch() -> UInt64? {
        guard !requests.isEmpty || leaving > 0 else { return nil }
        return watchers.add()
    }

    /// Notes that a request which left has told its caller; those who wait, when it was the last one.
    mutating func left() -> [WaitingLine<UInt64>.Continuation] {
        leaving -= 1
        guard requests.isEmpty, leaving == 0 else { return [] }
        return watchers.release()
    }
}
