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
    /// The requests that the renewal of a credential sends.
    private var renewals: Set<RequestID> = []

    /// The request of that identifier, if it is under way.
    subscript(id: RequestID) -> (any DispatchedRequest)? { requests[id] }

    /// Enters a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - continues: Whether it belongs to something that is under way, which may end although new requests are refused.
    ///   - isOfRenewal: Whether the renewal of the client's credentials sends it.
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    mutating func insert(
        _ request: any DispatchedRequest,
        continues: @autoclosure () -> Bool,
        isOfRenewal: Bool = false
    ) throws(RequestFailure.Reason) {
        guard !isClosed, !isRefusing || continues() else { throw .closed }
        if let other = requests.updateValue(request, forKey: request.id) {
            guard other.hasEnded else {
                requests[request.id] = other
                throw .duplicateID
            }
            overtaken.append(other)
        }
        if isOfRenewal {
            renewals.insert(request.id)
        } else if !renewals.isEmpty {
            renewals.remove(request.id)
        }
    }

    /// Takes a request out whose caller was told.
    ///
    /// - Returns: Those who wait, when it was the last one.
    mutating func remove(_ request: any DispatchedRequest) -> [IdleWatchers.Continuation] {
        if let found = requests.removeValue(forKey: request.id), found !== request {
            requests[request.id] = found
        } else if !renewals.isEmpty {
            renewals.remove(request.id)
        }
        if !overtaken.isEmpty { overtaken.removeAll { $0 === request } }
        return watchers.isEmpty || !isIdle ? [] : watchers.release()
    }

    /// All requests; also those that have ended and whose callers are being told.
    var all: [any DispatchedRequest] { Array(requests.values) }

    /// The requests of one owner, or all of them, without those that renew a credential.
    ///
    /// What cancels everything leaves these alone: a refresh token that has been sent may be spent, and with the answer
    /// the user's login would be lost.
    func ordinary(of owner: OwnerID?) -> [any DispatchedRequest] {
        requests.values.filter { (owner == nil || $0.owner == owner) && !renewals.contains($0.id) }
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
