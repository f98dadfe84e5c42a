/// The requests under way, by identifier.
///
/// A request stays until its caller was told, so that this can be waited for; once it has ended it is not listed any
/// more, and its identifier may be taken by another.
struct DispatchTable {
    private var requests: [RequestID: any DispatchedRequest] = [:]
    private var isRefusing = false
    private var isClosed = false
    /// Those who wait for the last request's end.
    var watchers = IdleWatchers()
    /// Requests whose callers are being told and whose identifiers others have taken.
    private var overtaken: [any DispatchedRequest] = []

    /// The request of that identifier, if it is under way.
    subscript(id: RequestID) -> (any DispatchedRequest)? { requests[id] }

    /// Enters a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - continues: Whether it belongs to something that is under way, which may end although new requests are refused.
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    mutating func insert(
        _ request: any DispatchedRequest,
        continues: @autoclosure () -> Bool
    ) throws(RequestFailure.Reason) {
        guard !isClosed, !isRefusing || continues() else { throw .closed }
        guard let other = requests.updateValue(request, forKey: request.id) else { return }
        if other.hasEnded { return overtaken.append(other) }
        requests[request.id] = other
        throw .duplicateID
    }

    /// Takes a request out whose caller was told.
    ///
    /// - Returns: Those who wait, when it was the last one.
    mutating func remove(_ request: any DispatchedRequest) -> [IdleWatchers.Continuation] {
        if let found = requests.removeValue(forKey: request.id), found !== request { requests[request.id] = found }
        if !overtaken.isEmpty { overtaken.removeAll { $0 === request } }
        return watchers.isEmpty || !isIdle ? [] : watchers.release()
    }

    /// The requests of one owner, or all of them; also those that have ended and whose callers are being told.
    func requests(of owner: ClientCore.OwnerID?) -> [any DispatchedRequest] {
        guard let owner else { return Array(requests.values) }
        return requests.values.filter { $0.owner == owner }
    }

    /// Refuses every further request that continues nothing.
    mutating func refuse() {
        isRefusing = true
    }

    /// Closes the table and returns what is in it.
    mutating func close() -> [any DispatchedRequest] {
        isClosed = true
        return Array(requests.values)
    }
}

// MARK: - The last one's end

extension DispatchTable {
    private var isIdle: Bool { requests.isEmpty && overtaken.isEmpty }

    /// A number for one who waits for the last request's end; `nil` when there is nothing to wait for.
    mutating func watch() -> UInt64? {
        isIdle ? nil : watchers.add()
    }
}
