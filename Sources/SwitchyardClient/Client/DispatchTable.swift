import SwitchyardServices

/// The active requests, by identifier.
///
/// A request stays in the table until its completion has been called, so that a waiter can wait for the completion.
/// While the completion is being called, the request is no longer listed, and another request may use its identifier.
struct DispatchTable {
    private var requests: [RequestID: any DispatchedRequest] = [:]
    private var isRefusing = false
    private var isClosed = false
    /// The waiters that are resumed when no request is left.
    var waiters = WaiterList<Bool>()
    /// The requests whose completions are being called and whose identifiers other requests already use.
    private var overtaken: [any DispatchedRequest] = []
    /// The requests that a credential refresh sends.
    private var refreshes: Set<RequestID> = []

    /// The active request with this identifier.
    subscript(id: RequestID) -> (any DispatchedRequest)? { requests[id] }

    /// Adds a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - continues: Whether the request belongs to an active operation, which may finish even if new requests are
    ///     refused.
    ///   - isOfRefresh: Whether the request is sent by a refresh of the client's credentials.
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    mutating func insert(
        _ request: any DispatchedRequest,
        continues: @autoclosure () -> Bool,
        isOfRefresh: Bool = false
    ) throws(RequestFailure.Reason) {
        guard !isClosed, !isRefusing || continues() else { throw .closed }
        if let other = requests.updateValue(request, forKey: request.id) {
            guard other.hasEnded else {
                requests[request.id] = other
                throw .duplicateID
            }
            overtaken.append(other)
        }
        if isOfRefresh {
            refreshes.insert(request.id)
        } else if !refreshes.isEmpty {
            refreshes.remove(request.id)
        }
    }

    /// Removes a request whose completion has been called.
    ///
    /// - Returns: The waiters to resume, if this was the last request.
    mutating func remove(_ request: any DispatchedRequest) -> [Waiter<Bool>] {
        if let found = requests.removeValue(forKey: request.id), found !== request {
            requests[request.id] = found
        } else if !refreshes.isEmpty {
            refreshes.remove(request.id)
        }
        if !overtaken.isEmpty { overtaken.removeAll { $0 === request } }
        return waiters.isEmpty || !isIdle ? [] : waiters.removeAll()
    }

    /// All requests, including requests that have ended and whose completions are being called.
    var all: [any DispatchedRequest] { Array(requests.values) }

    /// Returns the requests sent through the handle with the identifier `owner`, or through all handles if `owner` is
    /// `nil`.
    ///
    /// The requests of a credential refresh are left out, so that methods that cancel all requests do not cancel them.
    /// The server may already have used up the refresh token, so losing the response would lose the user's login.
    func ordinary(of owner: OwnerID?) -> [any DispatchedRequest] {
        requests.values.filter { (owner == nil || $0.owner == owner) && !refreshes.contains($0.id) }
    }

    /// Refuses further requests, except those that continue an active operation.
    mutating func refuse() {
        isRefusing = true
    }

    /// Closes the table and returns its requests.
    mutating func close() -> [any DispatchedRequest] {
        isClosed = true
        return Array(requests.values)
    }
}

// MARK: - Idle state

extension DispatchTable {
    /// Whether no request is active and no completion is being called.
    var isIdle: Bool { requests.isEmpty && overtaken.isEmpty }
}
